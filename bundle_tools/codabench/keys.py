"""The keys of `competition.yaml` that Codabench knows, and the only reader that checks a file against them.

A field of a dataclass is a key. Its type gives the allowed values, marks in ``Annotated`` add limits, a default makes
it optional (the server uses the same default), and ``| None`` accepts an explicit null. As on the server, words count
as booleans and numbers as texts. Paths, dates and indexes have their own rules, and may be anything here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import yaml

from bundle_tools.codabench.booleans import BOOLEAN_WORDS, is_on

Schema = TypeVar("Schema", bound="Section")
Place = tuple[str | int, ...]
"""Keys and list positions down to a value."""

FILES_OF_TASK = ("scoring_program", "ingestion_program", "input_data", "reference_data")
"""A task's parts: folders, zips, or keys of data sets on the server."""
LARGEST_INTEGER = 2**31 - 1
LONGEST_SHOWN = 60
ALIKE = 0.75
MAY_BE_EMPTY = "may be empty"
"""Marks a text that may be empty."""
NOT_EMPTY = "not empty"
"""Marks a list that needs an entry."""


@dataclass(frozen=True)
class Longest:
    """Limits the length of a text."""

    characters: int
    """Most characters."""


Name = Annotated[str, Longest(256)]
Description = Annotated[str | None, MAY_BE_EMPTY]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A mapping of the file. Its keys are the fields of the classes below."""

    place: Place = field(default=(), compare=False, repr=False)
    given: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The raw mapping, for rules about missing keys and wrong values."""


@dataclass(frozen=True)
class Page(Section):
    """A tab of the competition's page."""

    title: Annotated[str, Longest(255)]
    file: Any


@dataclass(frozen=True)
class TaskKeys(Section):
    """Programs and data; one with a key is on the server, and needs nothing else."""

    index: Any
    key: Any = None
    name: Name = ""
    description: Description = None
    ingestion_program: Any = None
    scoring_program: Any = None
    input_data: Any = None
    reference_data: Any = None
    ingestion_only_during_scoring: bool = False


@dataclass(frozen=True)
class Solution(Section):
    """An example submission."""

    index: Any
    tasks: list[Any]
    path: Any = None
    key: Any = None
    name: Name = ""
    description: Description = None


@dataclass(frozen=True)
class PhaseKeys(Section):
    """A period in which participants can submit."""

    name: Name
    start: Any
    tasks: list[Any]
    index: Any = 0
    description: Description = None
    end: Any | None = None
    max_submissions_per_day: int | None = 5
    max_submissions: int | None = 100
    execution_time_limit: int = 600
    auto_migrate_to_this_phase: bool = False
    hide_output: bool = False
    hide_prediction_output: bool = False
    hide_score_output: bool = False
    public_data: Any = None
    starting_kit: Any = None


@dataclass(frozen=True)
class Column(Section):
    """One column of the leaderboard."""

    title: Annotated[str, Longest(36)]
    """What the leaderboard shows above the column."""
    key: Annotated[str, Longest(36)]
    """The key in `scores.json`."""
    index: int
    """Its place; other columns name it by this number."""
    sorting: Literal["asc", "desc"] = "desc"
    """Whether lower or higher values rank higher."""
    precision: int = 2
    """Decimals shown."""
    hidden: bool = False
    """Whether only organisers see it."""
    computation: Literal["avg", "avg_rank", "max", "min", "sum"] | None = None
    """Where the platform computes the column; then `scores.json` must not hold it. Only newer servers know avg_rank."""
    computation_indexes: Any | None = None
    """Indexes of the columns it is computed from."""

    @property
    def ascending(self) -> bool:
        """Whether lower values rank higher."""
        return self.sorting == "asc"

    @property
    def sources(self) -> tuple[int, ...]:
        """Indexes of the columns it is computed from; empty if they are not a list, so that no score can be stored."""
        return tuple(map(int, self.computation_indexes)) if isinstance(self.computation_indexes, list) else ()


@dataclass(frozen=True)
class Board(Section):
    """A leaderboard."""

    title: Annotated[str, Longest(64)]
    key: Annotated[str, Longest(36)]
    columns: list[Column]
    hidden: bool = False
    submission_rule: Literal[
        "Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Best", "Force_Last", "Force_Latest_Multiple"
    ] = "Add"
    primary_index: int = 0
    index: Any | None = None


@dataclass(frozen=True)
class Keys(Section):
    """The whole file."""

    title: Name
    image: Any
    terms: Any
    pages: list[Page]
    tasks: Annotated[list[TaskKeys], NOT_EMPTY]
    phases: Annotated[list[PhaseKeys], NOT_EMPTY]
    leaderboards: Annotated[list[Board], NOT_EMPTY]
    version: Any = 2
    solutions: list[Solution] | None = None
    description: Description = None
    docker_image: Annotated[str, Longest(128)] = "codalab/codalab-legacy:py37"
    queue: Any | None = None
    registration_auto_approve: bool = False
    enable_detailed_results: bool = False
    show_detailed_results_in_submission_panel: bool = True
    show_detailed_results_in_leaderboard: bool = True
    auto_run_submissions: bool = True
    can_participants_make_submissions_public: bool = True
    make_programs_available: bool = False
    make_input_data_available: bool = False
    competition_type: Literal["benchmark", "competition"] = "competition"
    fact_sheet: dict[str, Any] | None = None
    reward: Annotated[str | None, Longest(256)] = None
    contact_email: Annotated[str | None, Longest(256)] = None
    forum_enabled: bool = True

    @property
    def columns(self) -> list[Column]:
        """The columns of the leaderboard, which is the first one; empty without a board."""
        return self.leaderboards[0].columns if self.leaderboards else []

    @property
    def primary_column(self) -> Column | None:
        """The column that ranks; None if no column has that index."""
        return next((one for one in self.columns if one.index == self.leaderboards[0].primary_index), None)


_NO_KEYS = frozenset(one.name for one in fields(Section))


@dataclass(frozen=True)
class Mistake:
    """One wrong key."""

    kind: Literal["unknown", "missing", "null", "value", "entry", "empty"]
    """An unknown or missing key, a null or wrong value, an entry that is not a mapping, or an empty list."""
    place: Place
    """The place; for a missing key, where it belongs."""
    what: str
    near: str = ""
    """For an unknown key, the probable one."""


def read(schema: type[Schema], entry: object, place: Place = ()) -> tuple[Schema, list[Mistake]]:
    """Check a mapping against the fields of a dataclass.

    Returns `section`: its values; wrong or missing ones are replaced by the default, None or an empty list.
    Returns `mistakes`: all mistakes, including those in nested sections.
    """
    mistakes: list[Mistake] = []
    values: dict[str, Any] = {}
    hints = {name: hint for name, hint in get_type_hints(schema, include_extras=True).items() if name not in _NO_KEYS}
    given = entry if isinstance(entry, dict) else {}
    if not isinstance(entry, dict):
        mistakes.append(Mistake("entry", place, f"expected keys and values; found {shown(entry)}"))
    for key in (key for key in given if key not in hints):
        near = get_close_matches(str(key), hints, n=1, cutoff=ALIKE)
        mistakes.append(Mistake("unknown", (*place, str(key)), shown(key), *near))
    for one in (one for one in fields(schema) if one.name in hints):
        name, where = one.name, (*place, one.name)
        hint, marks = _unwrapped(hints[name])
        values[name] = [] if _is_list(hint) else None if one.default is MISSING else one.default
        if name not in given:
            if one.default is MISSING and isinstance(entry, dict):
                mistakes.append(Mistake("missing", where, name))
        elif given[name] is None:
            if not _takes_null(hint):
                mistakes.append(Mistake("null", where, "expected a value; found null"))
            elif not _is_list(hint):
                values[name] = None
        elif problem := _problem(given[name], hint, marks):
            mistakes.append(Mistake("value", where, problem))
        else:
            values[name], below = _value(given[name], hint, where)
            mistakes += below
            if NOT_EMPTY in marks and not given[name]:
                mistakes.append(Mistake("empty", where, "is empty"))
    return schema(**values, place=place, given=given), mistakes


def load(text: str) -> Keys:
    """Read a checked file."""
    return read(Keys, yaml.safe_load(text))[0]


def is_key(value: object) -> bool:
    """Return whether a value is the key (UUID) of something on the server."""
    try:
        UUID(str(value))
    except ValueError:
        return False
    return True


def shown(value: object) -> str:
    """Return a value of a bundle as short, printable text."""
    if isinstance(value, (dict, list)):
        # Aliases can make a small file an endless value, so its repr is never built.
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - a type
    return (get_args(hint)[0], hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())


def _takes_null(hint: Any) -> bool:  # noqa: ANN401 - a type
    return get_origin(hint) in (Union, UnionType)


def _is_list(hint: Any) -> bool:  # noqa: ANN401 - a type
    hint = get_args(hint)[0] if _takes_null(hint) else hint
    return get_origin(hint) is list


def _value(value: Any, hint: Any, place: Place) -> tuple[Any, list[Mistake]]:  # noqa: ANN401 - any value
    """Convert a value that fits, and read the sections of a list."""
    hint = get_args(hint)[0] if _takes_null(hint) else hint
    if get_origin(hint) is list and is_dataclass(get_args(hint)[0]):
        read_below = [read(get_args(hint)[0], entry, (*place, at)) for at, entry in enumerate(value)]
        # An entry that is not a mapping is a mistake, not a section.
        sections = [section for (section, _), entry in zip(read_below, value, strict=True) if isinstance(entry, dict)]
        return sections, [one for _, below in read_below for one in below]
    if hint is bool:
        return is_on(value), []
    return (str(value) if hint is str or get_origin(hint) is Literal else value), []


def _problem(value: object, hint: Any, marks: tuple[Any, ...]) -> str | None:  # noqa: ANN401 - a type
    hint = get_args(hint)[0] if _takes_null(hint) else hint
    kind = get_origin(hint) or hint
    found = f"found {shown(value)}"
    if kind is bool and not isinstance(value, bool) and str(value).lower() not in BOOLEAN_WORDS:
        return f"expected true or false; {found}"
    if kind is int and (isinstance(value, bool) or not isinstance(value, int)):
        return f"expected an integer; {found}"
    if kind is int and not 0 <= value <= LARGEST_INTEGER:  # type: ignore[operator]  # a number, see above
        return f"expected 0 to {LARGEST_INTEGER}; found {value}"
    if kind is list and not isinstance(value, list):
        return f"expected a list; {found}"
    if kind is dict and not isinstance(value, dict):
        return f"expected keys and values; {found}"
    return next(_text_problems(value, hint, marks), None) if kind in (str, Literal) else None


def _text_problems(value: object, hint: Any, marks: tuple[Any, ...]) -> Iterator[str]:  # noqa: ANN401 - a type
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        yield f"expected a text; found {shown(value)}"
        return
    text = str(value)
    if not text.strip() and MAY_BE_EMPTY not in marks:
        yield "expected a text; found an empty one"
    if any(isinstance(mark, Longest) and len(text) > mark.characters for mark in marks):
        longest = next(mark.characters for mark in marks if isinstance(mark, Longest))
        yield f"expected at most {longest} characters; found {len(text)}"
    if get_origin(hint) is Literal and text not in get_args(hint):
        yield f"expected one of {', '.join(get_args(hint))}; found {shown(value)}"
