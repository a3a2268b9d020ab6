"""The keys of `competition.yaml` that Codabench knows, and the only reader that checks a file against them.

A field of a model is a key. Its type gives the allowed values, a default makes it optional (the server uses the same
default), and ``| None`` accepts an explicit null. As on the server, words count as booleans and numbers as texts.
Paths, dates and indexes have their own rules, and may be anything here.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_args
from uuid import UUID

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from bundle_tools.codabench.booleans import BOOLEAN_WORDS, is_on

Schema = TypeVar("Schema", bound="KeySection")
KeyPath = tuple[str | int, ...]
"""Keys and list positions down to a value."""

FILES_OF_TASK = ("scoring_program", "ingestion_program", "input_data", "reference_data")
"""A task's parts: folders, zips, or keys of data sets on the server."""
LARGEST_INTEGER = 2**31 - 1
LONGEST_SHOWN = 60
ALIKE = 0.75


def shown(value: object) -> str:
    """Return a value of a bundle as short, printable text."""
    if isinstance(value, (dict, list)):
        # Aliases can make a small file an endless value, so its repr is never built.
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _wrong(expected: str, found: str) -> PydanticCustomError:
    return PydanticCustomError("value", "expected {expected}; found {found}", {"expected": expected, "found": found})


def _flag(value: object) -> bool:
    if not isinstance(value, bool) and str(value).lower() not in BOOLEAN_WORDS:
        raise _wrong("true or false", shown(value))
    return is_on(value)


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong("an integer", shown(value))
    if not 0 <= value <= LARGEST_INTEGER:
        raise _wrong(f"0 to {LARGEST_INTEGER}", str(value))
    return value


def _text(value: object, longest: int | None = None, *, may_be_empty: bool = False) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _wrong("a text", shown(value))
    text = str(value)
    if not text.strip() and not may_be_empty:
        raise _wrong("a text", "an empty one")
    if longest is not None and len(text) > longest:
        raise _wrong(f"at most {longest} characters", str(len(text)))
    return text


def _not_null(value: object) -> object:
    if value is None:
        raise _wrong("a value", "null")
    return value


def _filled(values: list[Any]) -> list[Any]:
    if not values:
        raise PydanticCustomError("empty", "is empty")
    return values


def _longest(characters: int) -> BeforeValidator:
    return BeforeValidator(partial(_text, longest=characters))


def _needed(blank: object = None) -> Any:  # noqa: ANN401 - the default of a field of any type
    """Mark a key that the server needs; `blank` takes the place of a wrong or missing value."""
    return Field(default=blank, json_schema_extra={"needed": True})


Given = Annotated[Any, BeforeValidator(_not_null)]
"""Anything but null."""
Flag = Annotated[bool, BeforeValidator(_flag)]
Number = Annotated[int, BeforeValidator(_number)]
Text = BeforeValidator(_text)
Name = Annotated[str, _longest(256)]
Key = Annotated[str, _longest(36)]
Description = Annotated[str, BeforeValidator(partial(_text, may_be_empty=True))] | None
Filled = AfterValidator(_filled)


class KeySection(BaseModel):
    """A mapping of the file. Its keys are the fields of the classes below."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    _key_path: KeyPath = PrivateAttr(default=())
    _content: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def key_path(self) -> KeyPath:
        """Where it stands in the file."""
        return self._key_path

    @property
    def content(self) -> Mapping[str, Any]:
        """The raw mapping, for rules about missing keys and wrong values."""
        return self._content


class PageKeys(KeySection):
    """A tab of the competition's page."""

    title: Annotated[str, _longest(255)] = _needed()
    file: Given = _needed()


class TaskKeys(KeySection):
    """Programs and data; one with a key is on the server, and needs nothing else."""

    index: Given = _needed()
    key: Given = None
    name: Name = ""
    description: Description = None
    ingestion_program: Given = None
    scoring_program: Given = None
    input_data: Given = None
    reference_data: Given = None
    ingestion_only_during_scoring: Flag = False


class Solution(KeySection):
    """An example submission."""

    index: Given = _needed()
    tasks: list[Any] = _needed([])
    path: Given = None
    key: Given = None
    name: Name = ""
    description: Description = None


class PhaseKeys(KeySection):
    """A period in which participants can submit."""

    name: Name = _needed()
    start: Given = _needed()
    tasks: list[Any] = _needed([])
    index: Given = 0
    description: Description = None
    end: Any = None
    max_submissions_per_day: Number | None = 5
    max_submissions: Number | None = 100
    execution_time_limit: Number = 600
    auto_migrate_to_this_phase: Flag = False
    hide_output: Flag = False
    hide_prediction_output: Flag = False
    hide_score_output: Flag = False
    public_data: Given = None
    starting_kit: Given = None


class BoardColumn(KeySection):
    """One column of the leaderboard."""

    title: Key = _needed()
    """What the leaderboard shows above the column."""
    key: Key = _needed()
    """The key in `scores.json`."""
    index: Number = _needed()
    """Its place; other columns name it by this number."""
    sorting: Annotated[Literal["asc", "desc"], Text] = "desc"
    """Whether lower or higher values rank higher."""
    precision: Number = 2
    """Decimals shown."""
    hidden: Flag = False
    """Whether only organisers see it."""
    computation: Annotated[Literal["avg", "avg_rank", "max", "min", "sum"], Text] | None = None
    """Where the platform computes the column; then `scores.json` must not hold it. Only newer servers know avg_rank."""
    computation_indexes: Any = None
    """Indexes of the columns it is computed from."""

    @property
    def ascending(self) -> bool:
        """Whether lower values rank higher."""
        return self.sorting == "asc"

    @property
    def sources(self) -> tuple[int, ...]:
        """Indexes of the columns it is computed from; empty if they are not a list, so that no score can be stored."""
        return tuple(map(int, self.computation_indexes)) if isinstance(self.computation_indexes, list) else ()


_Rule = Literal["Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Best", "Force_Last", "Force_Latest_Multiple"]


class Board(KeySection):
    """A leaderboard."""

    title: Annotated[str, _longest(64)] = _needed()
    key: Key = _needed()
    columns: list[BoardColumn] = _needed([])
    hidden: Flag = False
    submission_rule: Annotated[_Rule, Text] = "Add"
    primary_index: Number = 0
    index: Any = None


class Keys(KeySection):
    """The whole file."""

    title: Name = _needed()
    image: Given = _needed()
    terms: Given = _needed()
    pages: list[PageKeys] = _needed([])
    tasks: Annotated[list[TaskKeys], Filled] = _needed([])
    phases: Annotated[list[PhaseKeys], Filled] = _needed([])
    leaderboards: Annotated[list[Board], Filled] = _needed([])
    version: Given = 2
    solutions: list[Solution] | None = None
    description: Description = None
    docker_image: Annotated[str, _longest(128)] = "codalab/codalab-legacy:py37"
    queue: Any = None
    registration_auto_approve: Flag = False
    enable_detailed_results: Flag = False
    show_detailed_results_in_submission_panel: Flag = True
    show_detailed_results_in_leaderboard: Flag = True
    auto_run_submissions: Flag = True
    can_participants_make_submissions_public: Flag = True
    make_programs_available: Flag = False
    make_input_data_available: Flag = False
    competition_type: Annotated[Literal["benchmark", "competition"], Text] = "competition"
    fact_sheet: dict[str, Any] | None = None
    reward: Name | None = None
    contact_email: Name | None = None
    forum_enabled: Flag = True

    @property
    def columns(self) -> list[BoardColumn]:
        """The columns of the leaderboard, which is the first one; empty without a board."""
        return self.leaderboards[0].columns if self.leaderboards else []

    @property
    def primary_column(self) -> BoardColumn | None:
        """The column that ranks; None if no column has that index."""
        return next((column for column in self.columns if column.index == self.leaderboards[0].primary_index), None)


@dataclass(frozen=True)
class KeyMistake:
    """One wrong key."""

    kind: Literal["unknown", "missing", "null", "value", "entry", "empty"]
    """An unknown or missing key, a null or wrong value, an entry that is not a mapping, or an empty list."""
    key_path: KeyPath
    """The place; for a missing key, where it belongs."""
    what: str
    near: str = ""
    """For an unknown key, the probable one."""


def read(schema: type[Schema], entry: object) -> tuple[Schema, list[KeyMistake]]:
    """Check a mapping against the fields of a model.

    Returns `section`: its values; wrong or missing ones are replaced by the default, None or an empty list.
    Returns `mistakes`: all mistakes, including those in nested sections.
    """
    if not isinstance(entry, dict):
        return schema(), [KeyMistake("entry", (), f"expected keys and values; found {shown(entry)}")]
    mistakes: list[KeyMistake] = []
    right = entry
    while True:
        try:
            section = schema.model_validate(right)
            break
        except ValidationError as error:
            details = error.errors(include_url=False)
        mistakes += [_mistake(schema, detail) for detail in details]
        right = deepcopy(right)
        for keys in sorted((detail["loc"] for detail in details), key=_order, reverse=True):
            _remove(right, keys)
    mistakes += _placed(section, entry, ())
    return section, mistakes


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


def _mistake(schema: type[KeySection], detail: Any) -> KeyMistake:  # noqa: ANN401 - an entry of ValidationError.errors()
    keys, kind, value = tuple(detail["loc"]), detail["type"], detail["input"]
    if kind == "extra_forbidden":
        for step in keys[:-1]:
            if isinstance(step, str):
                hint = schema.model_fields[step].annotation
                while not (isinstance(hint, type) and issubclass(hint, KeySection)):
                    hint = get_args(hint)[0]
                schema = hint
        near = get_close_matches(str(keys[-1]), schema.model_fields, n=1, cutoff=ALIKE)
        return KeyMistake("unknown", keys, shown(keys[-1]), *near)
    if kind in ("model_type", "empty"):
        what = "is empty" if kind == "empty" else f"expected keys and values; found {shown(value)}"
        return KeyMistake("empty" if kind == "empty" else "entry", keys, what)
    if value is None:
        return KeyMistake("null", keys, "expected a value; found null")
    expected = {"list_type": "a list", "dict_type": "keys and values"}.get(kind)
    if kind == "literal_error":
        expected = "one of " + detail["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    return KeyMistake("value", keys, f"expected {expected}; found {shown(value)}" if expected else detail["msg"])


def _order(keys: KeyPath) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (0, step) for step in keys]


def _remove(content: Any, keys: KeyPath) -> None:  # noqa: ANN401 - any mapping or list of a file
    *above, last = keys
    try:
        for step in above:
            content = content[step]
        del content[last]
    except (LookupError, TypeError):  # removed with a part around it, or in another place with the same alias
        return


def _placed(section: KeySection, content: Mapping[str, Any], keys: KeyPath) -> Iterator[KeyMistake]:
    """Tell sections where they stand and what they were read from; list the keys that they lack."""
    section._key_path, section._content = keys, content
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if name not in content and isinstance(field.json_schema_extra, dict):
            yield KeyMistake("missing", (*keys, name), name)
        elif isinstance(value, list) and value and isinstance(value[0], KeySection):
            raw = ((number, entry) for number, entry in enumerate(content[name]) if isinstance(entry, dict))
            for below, (number, entry) in zip(value, raw, strict=True):
                yield from _placed(below, entry, (*keys, name, number))
