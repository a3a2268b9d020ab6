"""Clips and a table of labels as a `Dataset`: everything that does not fit together is told at once."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bundle_tools.adapt.dataset import Clip, Dataset
from bundle_tools.adapt.folder.challenge import Asked, Challenge, all_columns
from bundle_tools.adapt.places import Place
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.scan import scan
from bundle_tools.adapt.table import Table, number, read_table
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

VIDEOS = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".m4v", ".mpg", ".mpeg")
# Names under which the columns of each role usually go; capitals, blanks and underscores do not matter.
USUAL = {
    "clip": ("clip", "clipid", "clipname", "file", "filename", "video", "videoid", "videoname", "name"),
    "source": ("source", "sourceid", "person", "personid", "speaker", "speakerid", "participant", "participantid",
               "subject", "subjectid", "youtubeid"),
    "transcript": ("transcript", "transcription", "text", "words"),
}  # fmt: skip
MOST_ATTRIBUTES, MOST_GROUPS = 8, 20
LONGEST_NAME = 40
"""Characters of the title that become part of `data_version`."""
PROTECTED = ("gender", "sex", "age", "agegroup", "ethnicity", "race")
"""Plain names of columns that say what people are: nobody wants them predicted by oversight."""
_TABLE_FIX = "Correct the table."


@dataclass(frozen=True)
class Sources:
    """What the organiser names."""

    clips: Path
    """Folder with the clips; zips in it are looked into."""
    labels: Path
    """Table of labels."""
    groups: Path | None
    """Table of the groups that people belong to; None without one."""
    ends: tuple[float, float]
    """Range of all targets where the challenge names none."""
    wanted: int = 0
    """Clips that were asked for in all phases together; 0 where nothing was said."""


@dataclass(frozen=True)
class Found:
    """What was read."""

    dataset: Dataset
    """The labelled set."""
    asked: tuple[Asked, ...]
    """Its targets, with what the organiser says of them."""
    has_sources: bool
    """Whether the table says which clips are of one person; else every clip counts as another."""
    separator: str
    """What stands between the cells of the table of labels."""


def read_folder(sources: Sources, challenge: Challenge, problems: Problems, progress: Progress | None = None) -> Found:
    """Read clips, labels and groups.

    Parameters
    ----------
    sources
        Where they are.
    challenge
        What the organiser says of them.
    problems
        What was found so far; told with everything that is found here.
    progress
        Told of every file.

    Raises
    ------
    BundleError
        With all problems.
    """
    if not sources.clips.is_dir():
        raise BundleError(f"--clips {sources.clips}: expected a folder, found none.")
    clips = _clips(scan(sources.clips, problems=problems, progress=progress), problems)
    table = _table(sources.labels, "--labels", problems)
    roles = _roles(table, challenge, problems)
    if 0 < len(clips) <= sources.wanted:
        what = f"--practice and --final ask for {sources.wanted} clips; found {len(clips)}"
        problems.add("phases that leave no clips for training", what, "Ask for smaller phases.")
    asked = _targets(table, roles, challenge, _ends(sources.ends, problems), problems)
    names = [one.target.name for one in asked]
    main = challenge.main_target or next(iter(names), "")
    # What the file itself names is checked where it is read.
    if asked and main not in names and not challenge.targets:
        what = f"main_target: {main}"
        problems.add("main targets that are no target", what, f"Name one of {', '.join(names)}.")
    rows = _rows(table, roles, asked, clips, problems) if "clip" in roles else {}
    groups, attributes = _groups(sources.groups, rows, challenge, asked, problems)
    problems.stop(f"{sources.clips} and {sources.labels}")
    found = [clip for clip, _ in rows.values()]
    dataset = Dataset(
        name=re.sub(r"[^a-z0-9]+", "-", challenge.title.lower())[:LONGEST_NAME].strip("-") or "own",
        targets=tuple(one.target for one in asked),
        main_target=main,
        clips=tuple(_with_groups(clip, groups) for clip in found),
        attributes=attributes,
    )
    return Found(dataset, asked, "source" in roles, table.separator if table else ",")


def _clips(places: Sequence[Place], problems: Problems) -> dict[str, Place]:
    """Give the videos by name; a name that stands twice is a problem."""
    found: dict[str, Place] = {}
    for place in places:
        if not place.name.lower().endswith(VIDEOS):
            continue
        if place.name in found:
            problems.add("clips with the same name", f"{found[place.name]} and {place}", "Rename or delete one.")
        found.setdefault(place.name, place)
    return found


def _table(path: Path, option: str, problems: Problems) -> Table | None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BundleError(f"{option} {path}: {error.strerror}. Name a CSV file.") from error
    return read_table(content, path.name, problems)


def _roles(table: Table | None, challenge: Challenge, problems: Problems) -> dict[str, str]:
    """Tell which column is what: as the challenge says, else by the usual names."""
    if table is None:
        return {}
    roles = {}
    for role, usual in USUAL.items():
        named = challenge.columns.get(role)
        if named is not None and named not in table.columns:
            what = f"{named} ({role}); found {', '.join(table.columns)}"
            problems.add("columns that are named and not there", what, "Correct columns: in the challenge file.")
        elif named is not None:
            roles[role] = named
        else:
            taken = {*challenge.columns.values(), *(one.column for one in challenge.targets), *challenge.ignore}
            free = [column for column in table.columns if column not in taken and _plain(column) in usual]
            roles |= {role: min(free, key=lambda column: usual.index(_plain(column)))} if free else {}
    if "clip" not in roles and "clip" not in challenge.columns:
        fix = "Call the column with the names of the files clip, or name it under columns: in the challenge file."
        problems.add("tables without a column of clips", f"found {', '.join(table.columns)}", fix)
    return roles


def _plain(column: str) -> str:
    return re.sub(r"[\s_-]", "", column.lower())


def _ends(ends: tuple[float, float], problems: Problems) -> tuple[float, float]:
    """Return the range; one that is none is a problem, and no label is then outside it."""
    low, high = ends
    if math.isfinite(low) and math.isfinite(high) and low < high:
        return ends
    problems.add("ranges that cannot be used", f"--range {low:g} {high:g}", "Give two finite numbers, rising.")
    return -math.inf, math.inf


def _targets(
    table: Table | None,
    roles: Mapping[str, str],
    challenge: Challenge,
    ends: tuple[float, float],
    problems: Problems,
) -> tuple[Asked, ...]:
    if challenge.targets or table is None:
        return challenge.targets
    known = {*roles.values(), *challenge.ignore}
    free = [column for column in table.columns if column not in known]
    protected = [column for column in free if _plain(column) in PROTECTED]
    fix = (
        "Move them to the table of --groups, or list them under ignore: in the challenge file; to predict them all the "
        "same, name every target under targets:."
    )
    problems.add_all("columns of what people are, which would become targets", protected, fix)
    return all_columns((column for column in free if column not in protected), ends)


def _rows(
    table: Table | None,
    roles: Mapping[str, str],
    asked: Sequence[Asked],
    clips: Mapping[str, Place],
    problems: Problems,
) -> dict[str, tuple[Clip, int]]:
    """Give the clips with labels by the name of their file, with the line of the table."""
    if table is None:
        return {}
    _check_columns(table, roles, asked, problems)
    spellings = _spellings(clips)
    rows: dict[str, tuple[Clip, int]] = {}
    for line, row in table.rows:
        given = row[roles["clip"]].replace("\\", "/").rpartition("/")[2]
        matches = [given] if given in clips else spellings.get(given) or spellings.get(given.casefold(), [])
        if len(matches) != 1:
            what = "labels without a clip" if not matches else "labels that fit several clips"
            problems.add(what, f"line {line}: {given}", "Add the file, or take the row out; capitals do not matter.")
        elif matches[0] in rows:
            where = f"lines {rows[matches[0]][1]} and {line}: {matches[0]}"
            problems.add("clips with several rows of labels", where, "Keep one row a clip, for instance the mean.")
        else:
            labels = tuple(_label(row, one, line, table.separator, problems) for one in asked)
            source = row[roles["source"]] if "source" in roles else matches[0]
            if not source:
                problems.add("clips without a source", f"line {line}: {matches[0]}", "Name the person or source video.")
            spoken = row[roles["transcript"]] if "transcript" in roles else ""
            rows[matches[0]] = (Clip(matches[0], source, clips[matches[0]], labels, spoken), line)
    without = sorted(clips.keys() - rows.keys())
    problems.add_all("clips without labels", without, "Add their rows, or take the files out of the folder.")
    return rows


def _spellings(names: Iterable[str]) -> dict[str, list[str]]:
    """Give the files by what tables call them: without the ending, or with other capitals; the former goes first."""
    exact: dict[str, list[str]] = {}
    loose: dict[str, list[str]] = {}
    for name in names:
        stem = PurePosixPath(name).stem
        exact.setdefault(stem, []).append(name)
        for spelling in {name.casefold(), stem.casefold()}:
            loose.setdefault(spelling, []).append(name)
    return loose | exact


def _check_columns(table: Table, roles: Mapping[str, str], asked: Sequence[Asked], problems: Problems) -> None:
    wanted = [one.column for one in asked]
    missing = [column for column in wanted if column not in table.columns]
    found = f"found {', '.join(table.columns)}"
    problems.add_all("targets without a column", [f"{name}; {found}" for name in missing], "Correct column: or name:.")
    if not asked:
        problems.add("tables without labels", found, "Add a column of numbers for each target.")
    names = [one.target.name for one in asked]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems.add_all("columns whose names become the same", twice, "Rename one of them.")


def _label(row: Mapping[str, str], asked: Asked, line: int, separator: str, problems: Problems) -> float:
    text = row.get(asked.column)
    if text is None:
        return asked.target.minimum
    value, target = number(text, separator), asked.target
    if math.isnan(value):
        fix = "Write a number; a column that is no target belongs under ignore: in the challenge file."
        problems.add("labels that are no numbers", f"line {line}, {asked.column}: {text!r}", fix)
        return target.minimum
    if not target.minimum <= value <= target.maximum:
        fix = f"Give the range ({target.minimum:g} to {target.maximum:g} so far) with --range or in the challenge file."
        problems.add("labels outside their range", f"line {line}, {asked.column}: {text}", fix)
    return value


def _groups(
    path: Path | None,
    rows: Mapping[str, tuple[Clip, int]],
    challenge: Challenge,
    asked: Sequence[Asked],
    problems: Problems,
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """Read the groups by clip or source, whichever the table names, and the attributes."""
    table = _table(path, "--groups", problems) if path else None
    if table is None or path is None:
        return {}, ()
    keys = [column for role in ("source", "clip") for column in table.columns
            if column == challenge.columns.get(role) or _plain(column) in USUAL[role]]  # fmt: skip
    if not keys:
        fix = "Call the column with the files' names clip, or the one with people's names source."
        problems.add("tables of groups without a column of clips or sources", path.name, fix)
        return {}, ()
    attributes = tuple(column for column in table.columns if column not in keys and column not in challenge.ignore)
    spelt = {column: re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") for column in attributes}
    unclear = [column for column, name in spelt.items() if not name or list(spelt.values()).count(name) > 1]
    fix = "Rename them with letters a-z and digits, each another way."
    problems.add_all("attributes whose names become empty or the same", unclear, fix)
    targets = {one.target.name for one in asked}
    wrong = [column for column, name in spelt.items() if name in targets]
    problems.add_all("attributes that are targets too", wrong, "Groups are never predicted: take one of them out.")
    if not 1 <= len(attributes) <= MOST_ATTRIBUTES:
        problems.add("tables of groups with none or too many attributes", f"{path.name}: {len(attributes)}",
                     f"Keep 1 to {MOST_ATTRIBUTES} columns.")  # fmt: skip
    for column in attributes:
        if len({row[column] for _, row in table.rows}) > MOST_GROUPS:
            problems.add("attributes with too many groups", column, f"Join them into at most {MOST_GROUPS}.")
    known = set(rows) | {PurePosixPath(name).stem for name in rows} | {c.source for c, _ in rows.values()}
    found: dict[str, dict[str, str]] = {}
    for line, row in table.rows:
        who = row[keys[0]]
        if who not in known:
            problems.add("groups of people without clips", f"{path.name}:{line}: {who}", _TABLE_FIX)
        elif who in found:
            problems.add("people with several rows of groups", f"{path.name}:{line}: {who}", _TABLE_FIX)
        else:
            found[who] = {spelt[column]: row[column] for column in attributes if row[column]}
    return found, tuple(spelt.values())


def _with_groups(clip: Clip, groups: Mapping[str, dict[str, str]]) -> Clip:
    names = (clip.name, PurePosixPath(clip.name).stem, clip.source)
    own = next((groups[name] for name in names if name in groups), {})
    return Clip(clip.name, clip.source, clip.place, clip.labels, clip.transcript, own)
