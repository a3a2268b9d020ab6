"""Look settings up by their dotted key; what is missing or wrong becomes one problem each, all told at once."""

import difflib
import math
import reprlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import yaml

from ingest.errors import IngestionError, Problem
from model_process.sandbox import TIERS, Tier, calls

FORMAT_VERSION = 1
MOST_ITEMS = 100


def brief(value: object) -> str:
    """Return a value in a few words, however long or deep it is."""
    try:
        return reprlib.repr(value)[:100]
    except ValueError:  # a whole number of thousands of digits
        return "a number that is too long to show"


def _doubled(node: yaml.Node, above: str, seen: set[int]) -> Iterator[str]:
    """Give the dotted keys that stand twice: YAML's safe loader keeps the last of them in silence."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield from _doubled(item, f"{above}[{position}]", seen)
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for name, value in node.value:
            key = f"{above}.{name.value}"[:100] if above else str(name.value)[:100]
            if isinstance(name, yaml.ScalarNode):
                if name.value in names:
                    yield key
                names.add(name.value)
            yield from _doubled(value, key, seen)


class SettingsReader:
    """Looks keys up by dotted path; collects a problem for each that is missing, wrong, or that nobody asks for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[Problem] = []
        self._content: object = None
        self._asked: set[str] = set()
        self._no_sections: dict[str, object] = {}
        try:
            self._content = self._load(path.read_text("utf-8-sig"))
        except Exception as error:  # noqa: BLE001 - values like `!!bool x` raise whatever the YAML library stumbles over
            self.problem("settings_unreadable", "", " ".join(str(error).split())[:300], "a YAML file in UTF-8")
            self.finish()
        if not isinstance(self._content, dict):
            self.problem("settings_unreadable", "", type(self._content).__name__, "a mapping of keys")
            self.finish()
        self.integer("format_version", FORMAT_VERSION, FORMAT_VERSION)

    def finish(self) -> None:
        """Raise if anything was wrong, keys that were not asked for included."""
        for key, value in self._no_sections.items():
            # The keys below it are missing too, but that is said with it.
            below = f"{self._path.name}, key {key}."
            self._problems = [problem for problem in self._problems if not problem.where.startswith(below)]
            self.problem("settings_value", key, brief(value), "a mapping of keys")
        for key in self._unknown(self._content):
            self.unknown(key, {".".join(asked.split(".")[: key.count(".") + 1]) for asked in self._asked})
        if self._problems:
            raise IngestionError(self._problems)

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.find(key)
        if isinstance(value, str) and value.strip():
            return value
        self.problem("settings_value", key, brief(value), "a non-empty text")
        return ""

    def number(self, key: str, minimum: float, maximum: float) -> float:
        """Return a number from `minimum` to `maximum`."""
        value = self.find(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and minimum <= value <= maximum:
            return float(value)
        self.problem("settings_value", key, brief(value), f"a number from {minimum} to {maximum}")
        return math.nan

    def integer(self, key: str, minimum: int, maximum: int, default: int | None = None) -> int:
        """Return a whole number from `minimum` to `maximum`; `default` where there is none."""
        value = self.find(key)
        if value is None and default is not None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum:
            return value
        self.problem("settings_value", key, brief(value), f"a whole number from {minimum} to {maximum}")
        return minimum

    def tier(self, key: str, default: Tier) -> Tier:
        """Return the name of an isolation tier."""
        value = self.find(key)
        if value is None:
            return default
        for tier in TIERS:
            if value == tier:
                return tier
        self.problem("settings_value", key, brief(value), f"one of {', '.join(TIERS)}")
        return default

    def system_calls(self, key: str) -> tuple[str, ...]:
        """Return a list of system calls that may be allowed besides the usual ones; none where there is no list."""
        if not self.has(key):
            return ()
        names, known, addable = self.names(key), calls.known(), calls.addable()
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, addable, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.problem("settings_value", key, brief(name), f"names of system calls of Linux{hint}")
            elif name not in addable:
                self.problem("settings_value", key, brief(name), "no call with which a wall would fall")
        return names

    def switch(self, key: str) -> bool:
        """Return true or false."""
        value = self.find(key)
        if isinstance(value, bool):
            return value
        self.problem("settings_value", key, brief(value), "true or false")
        return False

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of names, each once."""
        value = self.find(key)
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            if len(set(value)) == len(value):
                return tuple(value)
            self.problem("settings_value", key, "a name twice", "each name once")
            return ()
        self.problem("settings_value", key, brief(value), "a list of names")
        return ()

    def numbers(self, key: str, minimum: float, maximum: float) -> tuple[float, ...]:
        """Return a list of numbers from `minimum` to `maximum`."""
        value = self.find(key)
        if isinstance(value, list) and 0 < len(value) <= MOST_ITEMS:
            good = [
                n for n in value if isinstance(n, int | float) and not isinstance(n, bool) and minimum <= n <= maximum
            ]
            if len(good) == len(value):
                return tuple(float(n) for n in good)
        self.problem("settings_value", key, brief(value), f"a list of numbers from {minimum} to {maximum}")
        return ()

    def choices(self, key: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
        """Return a list of some of `allowed`, each once."""
        value = self.find(key)
        if isinstance(value, list) and value and all(item in allowed for item in value):
            if len(set(value)) == len(value):
                return tuple(value)
            self.problem("settings_value", key, "a name twice", "each name once")
            return ()
        self.problem("settings_value", key, brief(value), f"a list of some of {', '.join(allowed)}, each once")
        return ()

    def has(self, key: str) -> bool:
        """Tell whether the file says anything of `key`."""
        return self.find(key) is not None

    def find(self, key: str) -> Any:  # noqa: ANN401 - YAML holds anything
        """Return the value of a dotted key, None where there is none."""
        self._asked.add(key)
        value: Any = self._content
        above: list[str] = []
        for part in key.split("."):
            if not isinstance(value, dict):
                if value is not None:
                    self._no_sections[".".join(above)] = value
                return None
            value = value.get(part)
            above.append(part)
        return value

    def _load(self, text: str) -> object:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            # Before the values are built: that writes merged keys into the nodes.
            for key in dict.fromkeys(_doubled(node, "", set())):
                self.problem("settings_value", key, "a key that stands twice", "every key once")
            return loader.construct_document(node)
        finally:
            loader.dispose()

    def _unknown(self, content: object, above: str = "") -> Iterator[str]:
        """Walk the mappings: a key is known if it was asked for, or if one below it was."""
        for name, value in content.items() if isinstance(content, dict) else ():
            key = f"{above}{name}"
            if any(asked.startswith(f"{key}.") for asked in self._asked):
                yield from self._unknown(value, f"{key}.")
            elif key not in self._asked:
                yield key[:100]

    def unknown(self, key: str, known: Collection[str]) -> None:
        """Note that nobody knows `key`, with what was meant where something near is known."""
        near = difflib.get_close_matches(key, known, 1)
        expected = f"a key that is known; did you mean {near[0]}?" if near else "a key that is known"
        self.problem("settings_unknown", key, "a key that is not known", expected)

    def problem(self, code: str, key: str, found: str, expected: str) -> None:
        """Note that something is wrong with `key`."""
        where = f"{self._path.name}, key {key}" if key else self._path.name
        fix = f"correct {key} in {self._path.name}" if key else f"correct {self._path.name}"
        found = "nothing" if found == "None" else found
        self._problems.append(
            Problem(code, stage="settings", where=where, found=found, expected=expected, fix=fix, fault="organiser")
        )
