"""An organiser's description of a challenge: title, targets, ranges and words, in one small file.

All of it is optional: by default, every numeric column is a target, and all share one range.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictFloat
from pydantic.dataclasses import dataclass

from bundle_tools.own_clips.files import Problems, plain
from bundle_tools.phase_data.settings import OF_FOOTAGE, Challenge, Dates, Rules, Target
from bundle_tools.schema import CONFIG, Entries, Name, Rule, Section, WrongSettings, line, matching, one_of, read

NAME = r"[a-z][a-z0-9_]{0,31}"
LONGEST_TITLE = 24
_Name = Annotated[Name, matching(NAME, "at most 32 lower-case letters, digits and underscores, a letter first")]
_Title = Annotated[str, line(LONGEST_TITLE)]
_Bound = Annotated[StrictFloat, Field(ge=-1e6, le=1e6)]


@plain_dataclass(frozen=True)
class Description:
    """The content of the file; missing keys have their defaults."""

    challenge: Challenge = field(default_factory=lambda: Challenge(vocabulary=OF_FOOTAGE))
    """Has no targets if the file names none; then every numeric column is a target."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the table by role: clip, source, transcript, rater."""
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, config=CONFIG)
class _Target(Section):
    name: _Name
    minimum: _Bound
    maximum: _Bound
    title: _Title = ""
    column: Name = ""
    high: Name = ""

    def mistakes(self) -> Iterator[Rule]:
        if self.minimum >= self.maximum:
            yield "", f"minimum {self.minimum:g} and maximum {self.maximum:g}", "two numbers, rising"


@dataclass(frozen=True, config=CONFIG)
class _Group(Section):
    name: _Name
    targets: Entries[Name]
    title: _Title = ""


@dataclass(frozen=True, config=CONFIG)
class _Columns(Section):
    clip: Name | None = None
    source: Name | None = None
    transcript: Name | None = None
    rater: Name | None = None


@dataclass(frozen=True, config=CONFIG)
class _File(Section):
    """The keys of the file, as docs/adapting.md explains them."""

    # Shown above every report.
    title: Annotated[str, line(100)] = Challenge.title
    description: Annotated[str, line(2000)] = ""
    targets: Entries[_Target] = ()
    main_target: Name = ""
    group: _Group | None = None
    vocabulary: Entries[_Name] = OF_FOOTAGE
    aliases: dict[Name, Entries[Name]] = field(default_factory=dict)
    columns: _Columns = field(default_factory=_Columns)
    ignore: Entries[Name] = ()
    rules: Rules = field(default_factory=Rules)
    dates: Dates = field(default_factory=dict)

    def mistakes(self) -> Iterator[Rule]:
        names = [target.name for target in self.targets]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "targets", f"{name} twice", "every name once"
        if names and self.main_target and self.main_target not in names:
            yield "main_target", repr(self.main_target), one_of(names, self.main_target)
        for name in self.group.targets if self.group else ():
            if name not in names:
                yield "group.targets", repr(name), one_of(names, name)
        for cue in self.aliases.keys() - set(self.vocabulary):
            yield f"aliases.{cue}", "not a cue of the vocabulary", one_of(self.vocabulary, cue)


def read_description(path: Path, problems: Problems) -> Description:
    """Read the file.

    Raises BundleError with all problems, since a table cannot be read by a faulty description.
    """
    try:
        file = read(_File, path)
    except WrongSettings as error:
        lines = [
            f"{mistake.key or path.name}: found {mistake.found}; expected {mistake.expected}"
            for mistake in error.mistakes
        ]
        problems.add("settings that cannot be used", *lines, fix="docs/adapting.md shows the file.")
        problems.stop(f"--challenge {path}")
        raise
    targets = tuple(
        Target(
            row.name, row.title or _titled(row.name), row.minimum, row.maximum, plain(row.column or row.name), row.high
        )
        for row in file.targets
    )
    group = None
    if file.group is not None:
        title = file.group.title or _titled(file.group.name)
        group = {"name": file.group.name, "title": title, "targets": file.group.targets}
    challenge = Challenge(
        file.title,
        file.description,
        targets,
        file.main_target or next((target.name for target in targets), ""),
        group,
        file.vocabulary,
        file.aliases,
        rules=file.rules,
        dates=file.dates,
    )
    columns = {role: plain(column) for role, column in vars(file.columns).items() if column is not None}
    return Description(challenge, columns, tuple(map(plain, file.ignore)))


def _titled(name: str) -> str:
    return name.replace("_", " ").strip().capitalize()[:LONGEST_TITLE].strip()


def target_of(column: str, ends: tuple[float, float]) -> Target:
    """Make a target from a column; its name is the column's, spelt as a valid target name."""
    spelt = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:32]
    name = spelt if re.fullmatch(NAME, spelt) else f"target_{spelt}"[:32].rstrip("_")
    return Target(name, _titled(column), *ends, column)
