"""What an organiser says of a challenge: its title, targets, ranges and words, in one small file.

Everything in it may be left out: then every column of numbers is a target, in one range for all of them.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bundle_tools.adapt.dataset import Target
from bundle_tools.adapt.problems import Problems
from bundle_tools.bounded_yaml import load_bounded
from bundle_tools.errors import BundleError
from bundle_tools.synth.settings import VOCABULARY

NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
LONGEST_TITLE = 24
LONGEST_HEADING = 100
"""Characters of the competition's title, which stands above every report."""
ROLES = ("clip", "source", "transcript")
KEYS = {"title", "description", "targets", "main_target", "group", "vocabulary", "aliases", "columns", "ignore"}
_TARGET_KEYS = {"name", "title", "minimum", "maximum", "column", "high"}
_WRONG = "settings that cannot be used"
_FIX = "docs/adapting.md shows the file."


@dataclass(frozen=True)
class Asked:
    """One target as the organiser describes it."""

    target: Target
    """Name, title and range."""
    column: str
    """Its column in the table of labels."""
    high: str
    """What a high value means, for the pages; empty where nothing is said."""


@dataclass(frozen=True)
class Challenge:
    """The file, checked; what it leaves out has its default."""

    title: str = "Explained impressions"
    """Of the competition."""
    description: str = ""
    """One or two sentences for the pages; empty where nothing is said."""
    targets: tuple[Asked, ...] = ()
    """What is predicted; empty: every column of numbers."""
    main_target: str = ""
    """Name of the target that has score columns of its own; empty: the first one."""
    group: tuple[str, str, tuple[str, ...]] | None = None
    """Name, title and targets of the group whose mean has score columns of its own."""
    vocabulary: tuple[str, ...] = VOCABULARY
    """The cues of cue claims."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for cues beyond the built-in lexicon, by cue."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the table by role: one of `ROLES`."""
    ignore: tuple[str, ...] = ()
    """Columns that are left alone."""


def read_challenge(path: Path, problems: Problems) -> Challenge:
    """Read the file.

    Parameters
    ----------
    path
        A YAML file.
    problems
        Receives everything that is wrong in it.

    Raises
    ------
    BundleError
        When it cannot be read at all.
    """
    try:
        content = load_bounded(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BundleError(f"--challenge {path}: cannot be read ({error}). Write a YAML file in UTF-8.") from error
    if not isinstance(content, dict):
        raise BundleError(f"--challenge {path}: expected keys and values. {_FIX}")
    reader = _Reader(path.name, problems)
    reader.known(content, KEYS, "")
    targets = tuple(reader.target(entry, number) for number, entry in enumerate(reader.entries(content, "targets")))
    names = [asked.target.name for asked in targets]
    for name in sorted({name for name in names if names.count(name) > 1}):
        reader.add(f"targets: {name} twice")
    main = reader.text(content, "main_target", "")
    if targets and main and main not in names:
        reader.add(f"main_target: {main} is no target")
    if len(reader.text(content, "title", "")) > LONGEST_HEADING:
        reader.add(f"title: expected at most {LONGEST_HEADING} characters")
    vocabulary = tuple(reader.name(cue, "vocabulary") for cue in reader.entries(content, "vocabulary")) or VOCABULARY
    return Challenge(
        title=reader.text(content, "title", Challenge.title),
        description=reader.text(content, "description", ""),
        targets=targets,
        main_target=main,
        group=reader.group(content.get("group"), names),
        vocabulary=vocabulary,
        aliases=reader.aliases(content, vocabulary),
        columns=reader.columns(content),
        ignore=tuple(map(str, reader.entries(content, "ignore"))),
    )


class _Reader:
    """Reads values, and notes each that cannot be used."""

    def __init__(self, file: str, problems: Problems) -> None:
        self._file, self._problems = file, problems

    def add(self, what: str) -> None:
        self._problems.add(_WRONG, f"{self._file}, {what}", _FIX)

    def known(self, content: Mapping[Any, Any], keys: set[str], where: str) -> None:
        for key in content.keys() - keys:
            self.add(f"{where}{key}: not a key; there are {', '.join(sorted(keys))}")

    def entries(self, content: Mapping[str, Any], key: str) -> list[Any]:
        value = content.get(key) or []
        if not isinstance(value, list):
            self.add(f"{key}: expected a list")
            return []
        return value

    def mapping(self, content: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = content.get(key) or {}
        if not isinstance(value, dict):
            self.add(f"{key}: expected keys and values")
            return {}
        return value

    def text(self, content: Mapping[str, Any], key: str, default: str) -> str:
        value = content.get(key, default)
        if not isinstance(value, str) or "\n" in value.strip():
            self.add(f"{key}: expected one line of text")
            return default
        return value.strip()

    def name(self, value: object, where: str) -> str:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            self.add(f"{where}: {value!r}; expected lower-case letters, digits and underscores, a letter first")
            return "wrong"
        return value

    def target(self, entry: object, number: int) -> Asked:
        where = f"targets, number {number + 1}, "
        content = entry if isinstance(entry, dict) else {}
        if content is not entry:
            self.add(f"{where}expected name, title, minimum and maximum")
        self.known(content, _TARGET_KEYS, where)
        name = self.name(content.get("name"), f"{where}name")
        title = self.text(content, "title", name.replace("_", " ").capitalize())
        if not 0 < len(title) <= LONGEST_TITLE:
            self.add(f"{where}title: expected 1 to {LONGEST_TITLE} characters")
        minimum, maximum = (_number(content.get(key)) for key in ("minimum", "maximum"))
        if minimum is None or maximum is None or minimum >= maximum:
            found = f"{content.get('minimum')} and {content.get('maximum')}"
            self.add(f"{where}minimum and maximum: found {found}; expected two finite numbers, rising")
            minimum, maximum = 0.0, 1.0
        target = Target(name, title, minimum, maximum)
        return Asked(target, self.text(content, "column", name), self.text(content, "high", ""))

    def group(self, entry: object, names: list[str]) -> tuple[str, str, tuple[str, ...]] | None:
        if entry is None:
            return None
        content = entry if isinstance(entry, dict) else {}
        self.known(content, {"name", "title", "targets"}, "group, ")
        members = tuple(map(str, self.entries(content, "targets")))
        unknown = [member for member in members if member not in names]
        if not members or unknown:
            self.add(f"group, targets: expected names of targets; found {', '.join(unknown) or 'none'}")
        name = self.name(content.get("name"), "group, name")
        title = self.text(content, "title", name.capitalize())
        if not 0 < len(title) <= LONGEST_TITLE:
            self.add(f"group, title: expected 1 to {LONGEST_TITLE} characters")
        return name, title, members

    def aliases(self, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        found = {}
        for cue, words in self.mapping(content, "aliases").items():
            if cue not in vocabulary or not isinstance(words, list) or not all(isinstance(one, str) for one in words):
                self.add(f"aliases, {cue}: expected a cue of the vocabulary and a list of its words")
            else:
                found[cue] = tuple(words)
        return found

    def columns(self, content: Mapping[str, Any]) -> dict[str, str]:
        given = self.mapping(content, "columns")
        self.known(given, set(ROLES), "columns, ")
        return {role: str(column) for role, column in given.items()}


def _number(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def all_columns(columns: Iterator[str], ends: tuple[float, float]) -> tuple[Asked, ...]:
    """Make a target of each column, in one range for all; its name is the column's, spelt as names are."""
    asked = []
    for column in columns:
        spelt = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:32]
        name = spelt if NAME.fullmatch(spelt) else f"target_{spelt}"[:32].rstrip("_")
        title = column.replace("_", " ").strip().capitalize()[:LONGEST_TITLE].strip()
        asked.append(Asked(Target(name, title, *ends), column, ""))
    return tuple(asked)
