"""Settings: Pydantic dataclasses define the keys of a YAML file and hold its values; all mistakes are reported at once.

Both programs contain a copy of this file, since each is unpacked alone.
"""

import difflib
import re
import reprlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass as plain_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic.dataclasses import dataclass, is_pydantic_dataclass
from pydantic_core import InitErrorDetails, PydanticCustomError

LARGEST_FILE = 2**20
MOST_ENTRIES = 200
_RUBBISH = (yaml.YAMLError, RecursionError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""PyYAML answers `!!int ""` with an IndexError, and so on."""
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2

Schema = TypeVar("Schema")
Value = TypeVar("Value")
Kind = Literal["unreadable", "unknown", "value"]
"""What a mistake is about: the whole file, an unknown key, or the value of a key."""
Rule = tuple[str, str, str]
"""A broken rule across keys: the key below the section, what was found, what was expected."""
CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, populate_by_name=True, use_attribute_docstrings=True)
"""Numbers and truth values are also strict, by their types."""


@plain_dataclass(frozen=True)
class Mistake:
    """One mistake in a file."""

    kind: Kind
    """What it is about."""
    key: str
    """Full path of the key, such as `limits.call_s` or `targets[0].name`; empty for the whole file."""
    found: str
    """What was found."""
    expected: str
    """What was expected."""


class WrongSettings(Exception):
    """Carries all mistakes of a file."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("; ".join(f"{mistake.key}: found {mistake.found}" for mistake in mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True, config=CONFIG)
class Section:
    """A mapping of a settings file; a key without a value has its default."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:  # noqa: ANN401 - whatever the file holds
        if not isinstance(values, dict):
            return values
        known = _fields(cls)
        return {name: value for name, value in values.items() if value is not None or name not in known}

    @model_validator(mode="after")
    def _check_rules(self) -> "Section":
        errors = [
            InitErrorDetails(
                type=wrong(expected, found),
                loc=tuple(filter(None, key.split("."))),
                input=None,
            )
            for key, found, expected in self.mistakes()
        ]
        if errors:
            raise ValidationError.from_exception_data(type(self).__name__, errors)
        return self

    def mistakes(self) -> Iterable[Rule]:
        """Return the broken rules across keys; asked only if each key by itself is right."""
        return ()


def wrong(expected: str, found: str = "") -> PydanticCustomError:
    """Return the error of a rule: what it expected and found, by default the value itself."""
    return PydanticCustomError("rule", "{expected}", {"expected": expected, "found": found})


def _unquoted(value: Any) -> Any:  # noqa: ANN401
    return brief(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _undisclosed(value: Any, validate: Any) -> Any:  # noqa: ANN401
    try:
        return validate(value)
    except ValidationError as error:
        expected = _expected(error.errors(include_url=False)[0])
        raise wrong(expected, "an invalid value") from None


def _entries(values: tuple[Value, ...]) -> tuple[Value, ...]:
    # Not Pydantic's limits: they count valid entries, so that a list of one wrong entry is "too short" as well.
    if len(values) > MOST_ENTRIES:
        raise wrong(f"a list of at most {MOST_ENTRIES} entries", f"{len(values)} entries")
    if len(set(map(repr, values))) < len(values):
        raise wrong("every entry once", "a duplicate entry")
    return values


def _not_empty(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise wrong("a list of at least one entry")
    return values


def line(longest: int, shortest: int = 1) -> AfterValidator:
    """Return a rule for a text: printable characters in one line."""

    def check(text: str) -> str:
        if not shortest <= len(text) <= longest or not text.isprintable() or text.isspace():
            raise wrong(f"a text of {shortest} to {longest} characters")
        return text

    return AfterValidator(check)


Name = Annotated[str, line(200)]
"""A text without a limit of its own."""
Unquoted = BeforeValidator(_unquoted)
"""Marks a text that may be an unquoted number, such as the name of a version."""
Secret = WrapValidator(_undisclosed)
"""Marks a value that must never be quoted."""
MaybeEmpty = Annotated[tuple[Value, ...], AfterValidator(_entries)]
"""A list without duplicates that may be empty."""
Entries = Annotated[MaybeEmpty[Value], AfterValidator(_not_empty)]
"""A list without duplicates, at least one entry."""


def matching(pattern: str, words: str) -> AfterValidator:
    """Return a rule for a text: it must match the whole pattern; `words` say the same."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise wrong(words)
        return text

    return AfterValidator(check)


def read(schema: type[Schema], path: Path) -> Schema:
    """Read a settings file: YAML in UTF-8, at most 1 MiB.

    Raises WrongSettings with every mistake of the file.
    """
    mistakes: list[Mistake] = []
    content = _load(path, mistakes)
    return validate(schema, content, mistakes)


def validate(schema: type[Schema], content: object, mistakes: list[Mistake]) -> Schema:
    """Return what a file holds as its schema; `mistakes`: those that were found when it was read.

    Raises WrongSettings with every mistake.
    """
    if not mistakes or content is not None:
        try:
            settings: Schema = TypeAdapter(schema).validate_python(content, by_alias=True, by_name=False)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                if detail["type"] in ("value_error", "assertion_error"):  # a fault of our own rules, not of the file
                    raise detail["ctx"]["error"] from None
                mistakes.append(_mistake(schema, detail))
        else:
            if not mistakes:
                return settings
    raise WrongSettings(mistakes)


def brief(value: object) -> str:
    """Return a short form of a value of any length or depth: aliases can make a small file endless."""
    try:
        return "nothing" if value is None else _SHORT.repr(value)[:60]
    except ValueError:  # an integer of thousands of digits
        return "a number that is too long to show"


def one_of(known: Collection[str], name: str, above: str = "") -> str:
    """Return what was expected instead of a name: the known names, and the one that was probably meant."""
    near = difflib.get_close_matches(name, known, 1)
    return f"one of {', '.join(known)}" + (f"; did you mean {_key((above, near[0]))}?" if near else "")


def _mistake(schema: Any, error: Any) -> Mistake:  # noqa: ANN401 - a schema; an entry of ValidationError.errors()
    *above, last = error["loc"] or ("",)
    key = _key(error["loc"])[:100]
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return Mistake("unknown", key, "an unknown key", one_of(_keys(schema, above), str(last)[:100], _key(above)))
    found = error.get("ctx", {}).get("found") or ("nothing" if error["type"] == "missing" else brief(error["input"]))
    return Mistake("value", key, found, _expected(error))


def _expected(error: Any) -> str:  # noqa: ANN401
    """Return Pydantic's message as a phrase after "expected"."""
    if error["type"] in ("missing", "dataclass_type"):
        return "a mapping of keys" if error["type"] == "dataclass_type" else "a value"
    text = re.sub(r"^\w+ should (be |have )?| after validation.*", "", str(error["msg"]))
    return text.replace("a valid tuple", "a list").replace("a valid string", "a text")


def _keys(schema: Any, steps: Iterable[object]) -> list[str]:  # noqa: ANN401
    """Return the names of the keys at a place of the file."""
    for step in steps:
        if isinstance(step, str):
            schema = _fields(schema)[step].annotation
        while not is_pydantic_dataclass(schema):
            schema = next(kind for kind in get_args(schema) if kind is not type(None))
    return list(_fields(schema))


def _fields(schema: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the fields of a section by the names of their keys."""
    return {field.alias or name: field for name, field in schema.__pydantic_fields__.items()}


def _key(steps: Iterable[object]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps if step != "").lstrip(".")


def _load(path: Path, mistakes: list[Mistake]) -> object:
    unreadable = partial(Mistake, "unreadable", "", expected="a YAML file in UTF-8")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            mistakes.append(unreadable(found="more than 1 MiB"))
            return None
        loader = yaml.SafeLoader(data.decode("utf-8-sig"))
        try:
            node = loader.get_single_node()
            if node is None:
                return {}
            # Before the values are built, because that writes merged keys into the nodes.
            doubled = dict.fromkeys(_doubled(node, (), set()))
            mistakes += [Mistake("value", key, "a duplicate key", "every key once") for key in doubled]
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except FileNotFoundError:
        mistakes.append(unreadable(found="no such file"))
    except (OSError, UnicodeDecodeError) as error:
        mistakes.append(unreadable(found=type(error).__name__))
    except _RUBBISH as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or type(error).__name__
        mistakes.append(unreadable(found=f"a mistake{line}: {reason}"))
    return None


def _doubled(node: yaml.Node, above: tuple[object, ...], seen: set[int]) -> Iterator[str]:
    """Return duplicate keys: YAML's safe loader silently keeps the last one."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield from _doubled(item, (*above, position), seen)
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for name, value in node.value:
            key = (*above, str(name.value)[:100])
            if isinstance(name, yaml.ScalarNode):
                if name.value in names:
                    yield _key(key)[:100]
                names.add(name.value)
            yield from _doubled(value, key, seen)
