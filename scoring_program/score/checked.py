"""A mapping read from YAML that is checked key by key, and that collects every problem instead of stopping at one."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from score.errors import Problem
from score.read.strict_json import finite_number

_LARGEST_FILE = 2**20
_RUBBISH = (yaml.YAMLError, RecursionError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


def shown(value: object) -> str:
    """Quote a value in at most 60 characters, without ever writing all of it: aliases make small files endless."""
    try:
        return reprlib.repr(value)[:60]
    except ValueError:  # a whole number with more digits than Python writes
        return "a number that is far too large"


class Checked:
    """One mapping of a settings file; readers return a usable value, and note a problem if they had to invent it."""

    def __init__(self, values: object, where: str, problems: list[Problem]) -> None:
        self.where = where
        self.problems = problems
        self._known: set[str] = set()
        self._values: dict[Any, Any] = values if isinstance(values, dict) else {}
        if not isinstance(values, dict):
            self.add(where, type(values).__name__, "a mapping of keys to values")
            self.problems = []  # its keys are missing too, but that is said already

    def add(self, where: str, found: str, expected: str) -> None:
        """Note one problem of the settings."""
        self.problems.append(
            Problem("setting_invalid", "settings", where, found, expected, "correct it as docs/data_format.md shows")
        )

    def has(self, key: str) -> bool:
        """Whether an optional key is given."""
        self._known.add(key)
        return self._values.get(key) is not None

    def given(self) -> tuple[str, ...]:
        """List the keys that are texts, for a mapping whose keys are names."""
        return tuple(key for key in self._values if isinstance(key, str))

    def _get(self, key: str, expected: str) -> object:
        self._known.add(key)
        if key not in self._values:
            self.add(f"{self.where}, {key}", "nothing", expected)
            return None
        return self._values[key]

    def number(self, key: str, minimum: float, maximum: float, *, secret: bool = False) -> float:
        """Read a finite number inside a range, both ends included; a secret one is never quoted."""
        expected = f"a number from {minimum:g} to {maximum:g}"
        value = self._get(key, expected)
        if value is None and key not in self._values:
            return minimum
        number = finite_number(value)
        if number is None or not minimum <= number <= maximum:
            self.add(f"{self.where}, {key}", "another value" if secret else shown(value), expected)
            return minimum
        return number

    def integer(self, key: str, minimum: int, maximum: int) -> int:
        """Read a whole number inside a range, both ends included."""
        value = self.number(key, minimum, maximum)
        if value != int(value):
            self.add(f"{self.where}, {key}", f"{value:g}", "a whole number")
        return int(value)

    def text(self, key: str, longest: int = 200) -> str:
        """Read a non-empty text of one line; a number written without quotes is taken as text."""
        expected = f"a text of 1 to {longest} characters"
        value = self._get(key, expected)
        if value is None and key not in self._values:
            return ""
        text = value if isinstance(value, str) else shown(value) if isinstance(value, int | float) else ""
        if not 1 <= len(text) <= longest or not text.isprintable():
            self.add(f"{self.where}, {key}", shown(value), expected)
        return text

    def flag(self, key: str) -> bool:
        """Read true or false."""
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            if key in self._values:
                self.add(f"{self.where}, {key}", shown(value), "true or false")
            return False
        return value

    def section(self, key: str) -> Checked:
        """Read a mapping inside this one."""
        value = self._get(key, "a mapping")
        if value is None and key not in self._values:
            return Checked({}, f"{self.where}, {key}", [])  # one problem for the section, not one for each key in it
        return Checked(value, f"{self.where}, {key}", self.problems)

    def sections(self, key: str) -> list[Checked]:
        """Read a list of mappings, at least one."""
        value = self._get(key, "a list")
        items = value if isinstance(value, list) else []
        if not items and key in self._values:
            self.add(f"{self.where}, {key}", shown(value), "a list with at least one entry")
        return [Checked(item, f"{self.where}, {key} {n}", self.problems) for n, item in enumerate(items, 1)]

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts, at least one."""
        value = self._get(key, "a list of texts")
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            if key in self._values:
                self.add(f"{self.where}, {key}", shown(value), "a list of texts")
            return ()
        return tuple(value)

    def finish(self) -> None:
        """Name the keys that nothing has asked for: most are misspelt."""
        for key in self._values:
            if key not in self._known:
                near = difflib.get_close_matches(str(key)[:100], self._known, 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                expected = f"one of {', '.join(sorted(self._known))}{meant}"
                self.add(f"{self.where}, {key}"[:120], "a key that is not known", expected)


def read_yaml(path: Path, problems: list[Problem]) -> Checked:
    """Read a settings file; a missing or unreadable file is one problem, not an exception.

    Parameters
    ----------
    path
        The file; only its name is ever shown.
    problems
        Where everything that is wrong is collected.
    """
    try:
        values, doubled = _load(_text_of(path))
    except FileNotFoundError:
        found, expected = "no such file", "the phase's settings"
    except (OSError, UnicodeDecodeError) as error:
        found, expected = type(error).__name__, "a readable text in UTF-8"
    except _RUBBISH as error:  # PyYAML answers `!!int ""` with an IndexError, and so on
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        found, expected = f"a mistake{line}: {getattr(error, 'problem', None) or type(error).__name__}", "YAML"
    else:
        root = Checked(values, path.name, problems)
        for key in doubled:
            root.add(f"{path.name}, {key}"[:120], "a key that stands twice", "every key once")
        return root
    Checked({}, path.name, problems).add(path.name, found, expected)
    return Checked({}, path.name, [])  # its keys are missing too, but that is said already


def _load(text: str) -> tuple[object, list[str]]:
    """Build what a text holds, and list the keys that stand twice: YAML's safe loader keeps the last in silence."""
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, []
        # Before the values are built: that writes merged keys into the nodes.
        doubled = list(dict.fromkeys(_doubled(node, "", set())))
        return loader.construct_document(node), doubled
    finally:
        loader.dispose()


def _doubled(node: yaml.Node, above: str, seen: set[int]) -> Iterator[str]:
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value, 1):
            yield from _doubled(item, f"{above} {position}", seen)
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for name, value in node.value:
            key = f"{above}, {name.value}"[:120] if above else str(name.value)[:120]
            if isinstance(name, yaml.ScalarNode):
                if name.value in names:
                    yield key
                names.add(name.value)
            yield from _doubled(value, key, seen)


def _text_of(path: Path) -> str:
    with path.open("rb") as stream:
        data = stream.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise yaml.MarkedYAMLError(problem="more than 1 MiB of settings")
    # A byte order mark is what some editors add; it changes nothing.
    return data.decode("utf-8-sig")
