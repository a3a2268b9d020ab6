"""Settings: frozen dataclasses define the keys of a YAML file and hold its values; all mistakes are reported at once.

A field is a key. Its type defines valid values, marks in ``Annotated`` add limits, a default makes it optional. Rules
across keys are checked by the class's method ``mistakes``, if no key is missing: it yields (key below the section,
what was found, what was expected). Both programs contain a copy of this file, since they share no code.
"""

import difflib
import math
import re
import reprlib
import types
from collections.abc import Collection, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

LARGEST_FILE = 2**20
LONGEST_TEXT = 200
MOST_ITEMS = 200
LARGEST_NUMBER = 1e9
_RUBBISH = (yaml.YAMLError, RecursionError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""PyYAML answers `!!int ""` with an IndexError, and so on."""

Section = TypeVar("Section")
Mark = TypeVar("Mark")
Kind = Literal["unreadable", "unknown", "value"]
"""What a mistake is about: the whole file, an unknown key, or the value of a key."""
Found = tuple[str, str, str]
"""A key, what was found, what was expected."""


@dataclass(frozen=True)
class Between:
    """Limits of a number, both included."""

    minimum: float
    """Smallest."""
    maximum: float
    """Largest."""


@dataclass(frozen=True)
class Length:
    """How long a text or list may be: characters or entries."""

    maximum: int
    """Largest."""
    minimum: int = 1
    """Smallest."""


@dataclass(frozen=True)
class Form:
    """Pattern of a text."""

    pattern: str
    """Must match the whole text."""
    says: str
    """The same in words."""


@dataclass(frozen=True)
class Key:
    """The key's name, if it differs from the field's."""

    name: str
    """Name of the key in the file."""


@dataclass(frozen=True)
class OrNumber:
    """Marks a text that may be an unquoted number, such as the name of a version."""


@dataclass(frozen=True)
class Secret:
    """Marks a value that must never be quoted."""


@dataclass(frozen=True)
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
        super().__init__("; ".join(f"{one.key}: found {one.found}" for one in mistakes))
        self.mistakes = mistakes


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2


def read(schema: type[Section], path: Path) -> Section:
    """Read a settings file.

    Parameters
    ----------
    schema
        A dataclass whose fields are the keys of the file.
    path
        YAML in UTF-8, at most 1 MiB.

    Raises
    ------
    WrongSettings
        With every mistake of the file.
    """
    reader = _Reader()
    content = reader.load(path)
    settings: Any = None if reader.mistakes and content is None else reader.section(schema, content, "")
    if reader.mistakes:
        raise WrongSettings(reader.mistakes)
    return settings  # type: ignore[no-any-return]  # no mistake: it is what the schema says


def brief(value: object) -> str:
    """Return a short form of a value of any length or depth: aliases can make a small file endless."""
    try:
        return "nothing" if value is None else _SHORT.repr(value)[:60]
    except ValueError:  # an integer of thousands of digits
        return "a number that is too long to show"


def one_of(known: Collection[str], name: str, above: str = "") -> str:
    """Return what was expected instead of a name: the known names, and the one that was probably meant."""
    near = difflib.get_close_matches(name, known, 1)
    return f"one of {', '.join(known)}" + (f"; did you mean {_join(above, near[0])}?" if near else "")


class _Reader:
    """Walks values and types in parallel. What it returns for an invalid value is never used."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def wrong(self, key: str, found: str, expected: str, kind: Kind = "value") -> None:
        self.mistakes.append(Mistake(kind, key[:100], found, expected))

    def load(self, path: Path) -> object:
        found = ""
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
            if len(data) > LARGEST_FILE:
                found = "more than 1 MiB"
            else:
                return self._parse(data.decode("utf-8-sig"))
        except FileNotFoundError:
            found = "no such file"
        except (OSError, UnicodeDecodeError) as error:
            found = type(error).__name__
        except _RUBBISH as error:
            mark = getattr(error, "problem_mark", None)
            line = f" in line {mark.line + 1}" if mark else ""
            found = f"a mistake{line}: {getattr(error, 'problem', None) or type(error).__name__}"
        self.mistakes.append(Mistake("unreadable", "", found, "a YAML file in UTF-8"))
        return None

    def _parse(self, text: str) -> object:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return {}
            # Before the values are built, because that writes merged keys into the nodes.
            for key in dict.fromkeys(_doubled(node, "", set())):
                self.wrong(key, "a duplicate key", "every key once")
            return loader.construct_document(node)
        finally:
            loader.dispose()

    def section(self, schema: Any, value: object, key: str) -> object:  # noqa: ANN401 - any dataclass
        if not isinstance(value, dict):
            self.wrong(key, brief(value), "a mapping of keys")
            return None
        hints = get_type_hints(schema, include_extras=True)
        known, values, lacking = [], {}, False
        for field in fields(schema):
            name = _marked(getattr(hints[field.name], "__metadata__", ()), Key(field.name)).name
            known.append(name)
            optional = (field.default, field.default_factory) != (MISSING, MISSING)
            if value.get(name) is None and optional:
                continue
            before = len(self.mistakes)
            read = self.value(hints[field.name], value.get(name), _join(key, name))
            if len(self.mistakes) == before:
                values[field.name] = read
            lacking |= field.name not in values and not optional
        for name in (name for name in value if name not in known):
            expected = one_of(known, str(name)[:100], key)
            self.wrong(_join(key, str(name)[:100]), "an unknown key", expected, "unknown")
        if lacking:
            return None
        section = schema(**values)
        for below, found, expected in section.mistakes() if hasattr(section, "mistakes") else ():
            self.wrong(_join(key, below), found, expected)
        return section

    def value(self, hint: Any, value: object, key: str, marks: tuple[object, ...] = ()) -> object:  # noqa: ANN401
        kind, inner = get_origin(hint), get_args(hint)
        if kind is Annotated:
            return self.value(inner[0], value, key, hint.__metadata__)
        if kind in (Union, types.UnionType):  # `X | None` with a value
            return self.value(inner[0], value, key, marks)
        if is_dataclass(hint):
            return self.section(hint, value, key)
        if kind is tuple:
            return self._items(inner[0], value, key, marks)
        if kind is dict:
            return self._mapping(inner[1], value, key)
        if kind is Literal:
            if not any(type(value) is type(choice) and value == choice for choice in inner):
                self.wrong(
                    key, brief(value), f"one of {', '.join(map(str, inner))}" if len(inner) > 1 else str(inner[0])
                )
            return value
        if hint is bool:
            if not isinstance(value, bool):
                self.wrong(key, brief(value), "true or false")
            return value
        return self._text(value, key, marks) if hint is str else self._number(hint, value, key, marks)

    def _text(self, value: object, key: str, marks: tuple[object, ...]) -> str:
        longest = _marked(marks, Length(LONGEST_TEXT)).maximum
        form = _marked(marks, Form(".*", ""))
        number = OrNumber() in marks and isinstance(value, int | float) and not isinstance(value, bool)
        text = value if isinstance(value, str) else brief(value) if number else ""
        if not 1 <= len(text) <= longest or not text.isprintable() or not text.strip():
            self.wrong(key, brief(value), f"a text of 1 to {longest} characters")
        elif not re.fullmatch(form.pattern, text):
            self.wrong(key, brief(value), form.says)
        return text

    def _number(self, kind: type, value: object, key: str, marks: tuple[object, ...]) -> float:
        limits = _marked(marks, Between(-LARGEST_NUMBER, LARGEST_NUMBER))
        number = float("nan")
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
            number = value
        if limits.minimum <= number <= limits.maximum and (kind is float or number == int(number)):
            return float(number) if kind is float else int(number)
        found = "an invalid value" if Secret() in marks else brief(value)
        whole = "" if kind is float else "whole "
        self.wrong(key, found, f"a {whole}number from {_written(limits.minimum)} to {_written(limits.maximum)}")
        return number

    def _items(self, hint: Any, value: object, key: str, marks: tuple[object, ...]) -> tuple[object, ...]:  # noqa: ANN401
        length = _marked(marks, Length(MOST_ITEMS))
        if not isinstance(value, list) or not length.minimum <= len(value) <= length.maximum:
            found = f"{len(value)} entries" if isinstance(value, list) else brief(value)
            self.wrong(key, found, f"a list of {length.minimum} to {length.maximum} entries")
            return ()
        before = len(self.mistakes)
        items = tuple(self.value(hint, item, f"{key}[{position}]") for position, item in enumerate(value))
        if len(self.mistakes) == before and len(set(map(repr, items))) < len(items):
            self.wrong(key, "a duplicate entry", "every entry once")
        return items

    def _mapping(self, hint: Any, value: object, key: str) -> dict[str, object]:  # noqa: ANN401
        if not isinstance(value, dict) or len(value) > MOST_ITEMS or not all(isinstance(name, str) for name in value):
            self.wrong(key, brief(value), "a mapping of names")
            return {}
        return {name: self.value(hint, item, _join(key, name)) for name, item in value.items()}


def _marked(marks: tuple[object, ...], default: Mark) -> Mark:
    """Return the mark of the default's kind, or the default."""
    return next((mark for mark in marks if isinstance(mark, type(default))), default)


def _join(above: str, name: str) -> str:
    return f"{above}.{name}" if above and name else above or name


def _written(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def _doubled(node: yaml.Node, above: str, seen: set[int]) -> Iterator[str]:
    """Return duplicate keys: YAML's safe loader silently keeps the last one."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield from _doubled(item, f"{above}[{position}]", seen)
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for name, value in node.value:
            key = _join(above, str(name.value))[:100]
            if isinstance(name, yaml.ScalarNode):
                if name.value in names:
                    yield key
                names.add(name.value)
            yield from _doubled(value, key, seen)
