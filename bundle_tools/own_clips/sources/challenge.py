"""What an organiser says of a challenge: its title, targets, ranges and words, in one small file.

Everything in it may be left out: then every column of numbers is a target, in one range for all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bundle_tools.own_clips.problems import Problems
from bundle_tools.phase_data.settings import VOCABULARY, Challenge, Target
from bundle_tools.scoring_program import use_own_scoring_program

if TYPE_CHECKING:
    from score.checked import Checked

NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
LONGEST_TITLE = 24
LONGEST_HEADING = 100
"""Characters of the competition's title, which stands above every report."""
LONGEST_TEXT = 2000
MOST_VALUE = 1e6
ROLES = ("clip", "source", "transcript")


@dataclass(frozen=True)
class Description:
    """The file, checked; what it leaves out has its default."""

    challenge: Challenge = field(default_factory=Challenge)
    """Without targets where the file names none: then every column of numbers is one."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the table by role: one of `ROLES`."""
    ignore: tuple[str, ...] = ()
    """Columns that are left alone."""


def read_description(path: Path, problems: Problems) -> Description:
    """Read the file.

    Parameters
    ----------
    path
        A YAML file.
    problems
        Receives everything that is wrong in it.
    """
    # Its settings become those of scoring, so they are read as scoring reads them.
    use_own_scoring_program()
    from score.checked import read_yaml  # noqa: PLC0415 - the path is known only now
    from score.errors import Problem  # noqa: PLC0415

    mistakes: list[Problem] = []
    root = read_yaml(path, mistakes)
    description = _description(root)
    root.finish()
    told = [f"{one.where}: found {one.found}; expected {one.expected}" for one in mistakes]
    problems.add("settings that cannot be used", *told, fix="docs/adapting.md shows the file.")
    return description


def _description(root: "Checked") -> Description:
    targets = tuple(map(_target, root.sections("targets"))) if root.has("targets") else ()
    names = [target.name for target in targets]
    for name in sorted({name for name in names if names.count(name) > 1}):
        root.add(f"{root.where}, targets", f"{name} twice", "every name once")
    main = root.text("main_target") if root.has("main_target") else next(iter(names), "")
    if targets and main not in names:
        root.add(f"{root.where}, main_target", repr(main), f"one of {', '.join(names)}")
    vocabulary = root.texts("vocabulary") if root.has("vocabulary") else VOCABULARY
    for cue in vocabulary:
        _check_name(root, "vocabulary", cue)
    challenge = Challenge(
        title=root.text("title", LONGEST_HEADING) if root.has("title") else Challenge.title,
        description=root.text("description", LONGEST_TEXT) if root.has("description") else "",
        targets=targets,
        main_target=main,
        group=_group(root.section("group"), names) if root.has("group") else None,
        vocabulary=vocabulary,
        aliases=_aliases(root.section("aliases"), vocabulary) if root.has("aliases") else {},
    )
    columns = _columns(root.section("columns")) if root.has("columns") else {}
    return Description(challenge, columns, root.texts("ignore") if root.has("ignore") else ())


def _check_name(item: "Checked", key: str, name: str) -> None:
    if name and not NAME.fullmatch(name):
        item.add(f"{item.where}, {key}", repr(name), "lower-case letters, digits and underscores, a letter first")


def _target(item: "Checked") -> Target:
    name = item.text("name", LONGEST_TITLE + 8)
    _check_name(item, "name", name)
    title = item.text("title", LONGEST_TITLE) if item.has("title") else _titled(name)
    minimum, maximum = (item.number(key, -MOST_VALUE, MOST_VALUE) for key in ("minimum", "maximum"))
    if minimum >= maximum:
        item.add(item.where, f"minimum {minimum:g} and maximum {maximum:g}", "two finite numbers, rising")
    column = item.text("column") if item.has("column") else name
    high = item.text("high") if item.has("high") else ""
    item.finish()
    return Target(name, title, minimum, maximum, column, high)


def _group(item: "Checked", names: list[str]) -> dict[str, object]:
    name = item.text("name", LONGEST_TITLE)
    _check_name(item, "name", name)
    members = item.texts("targets")
    for member in members:
        if member not in names:
            item.add(f"{item.where}, targets", repr(member), f"one of {', '.join(names)}")
    title = item.text("title", LONGEST_TITLE) if item.has("title") else _titled(name)
    item.finish()
    return {"name": name, "title": title, "targets": members}


def _aliases(item: "Checked", vocabulary: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    # A cue that is none is left over as an unknown key.
    found = {cue: item.texts(cue) for cue in vocabulary if item.has(cue)}
    item.finish()
    return found


def _columns(item: "Checked") -> dict[str, str]:
    found = {role: item.text(role) for role in ROLES if item.has(role)}
    item.finish()
    return found


def _titled(name: str) -> str:
    return name.replace("_", " ").strip().capitalize()[:LONGEST_TITLE].strip()


def target_of(column: str, ends: tuple[float, float]) -> Target:
    """Make a target of a column; its name is the column's, spelt as names are."""
    spelt = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:32]
    name = spelt if NAME.fullmatch(spelt) else f"target_{spelt}"[:32].rstrip("_")
    return Target(name, _titled(column), *ends, column)
