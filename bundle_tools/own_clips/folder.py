"""Clips and a table of labels as a `LabelledSet`; all mismatches are reported together."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from statistics import fmean

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet
from bundle_tools.own_clips.description import Description, target_of
from bundle_tools.own_clips.files import FileLocation, Problems, by_name, check_placeholders, scan
from bundle_tools.own_clips.people import ASK, JOIN, confirm_same, is_nobody, same_people
from bundle_tools.own_clips.ratings import Ratings, agreement
from bundle_tools.own_clips.table import Table, read_table
from bundle_tools.phase_data.settings import Challenge, Target
from bundle_tools.untrusted import START, placeholder

VIDEOS = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".3gp"),
    *(".wmv", ".flv", ".ogv", ".mxf"),
)
# Usual column names for each role; case, blanks and underscores are ignored.
USUAL = {
    "clip": ("clip", "clipid", "clipname", "file", "filename", "video", "videoid", "videoname", "name"),
    "source": ("source", "sourceid", "person", "personid", "speaker", "speakerid", "participant", "participantid",
               "subject", "subjectid", "youtubeid"),
    "transcript": ("transcript", "transcription", "text", "words"),
    "rater": ("rater", "raterid", "ratername", "annotator", "annotatorid", "judge", "judgeid", "coder", "coderid"),
}  # fmt: skip
MOST_ATTRIBUTES, MOST_GROUPS = 8, 20
LONGEST_NAME = 40
"""The most characters of the title that become part of `data_version`."""
PROTECTED = ("gender", "sex", "age", "agegroup", "ethnicity", "race")
"""Column names of personal attributes, which must not become targets by accident."""
_TABLE_FIX = "Correct the table."
MERGED = "Cells that were merged in a spreadsheet are empty in all rows but the first."


@dataclass(frozen=True)
class Sources:
    """The organiser's files and options."""

    clips: Path
    """Folder with the clips; zip archives in it are searched too."""
    labels: Path
    groups: Path | None = None
    ends: tuple[float, float] = (0.0, 1.0)
    """Range of all targets if the challenge names none."""
    wanted: int = 0
    """Requested number of clips in all phases together; 0 if unspecified."""
    look_alikes: str = ASK
    """What to do about people whose names look alike: one of `people.CHOICES`."""


def read_folder(
    sources: Sources, description: Description, problems: Problems, progress: Progress | None = None
) -> LabelledSet:
    """Read clips, labels and groups.

    Raises BundleError with all problems.
    """
    if not sources.clips.is_dir():
        raise BundleError(f"--clips {sources.clips}: expected a folder, found none.")
    places = scan(sources.clips, problems=problems, progress=progress)
    check_placeholders((file for file in places if file.name.lower().endswith((*VIDEOS, ".icloud"))), problems)
    videos = [file for file in places if file.name.lower().endswith(VIDEOS)]
    clips = by_name(videos, "clips with the same name", problems, fix="Rename or delete one.")
    if 0 < len(clips) <= sources.wanted:
        what = f"--practice and --final ask for {sources.wanted} clips; found {len(clips)}"
        problems.add("phases that leave no clips for training", what, fix="Ask for smaller phases.")
    table = _table(sources.labels, "--labels", problems)
    labelled: dict[str, LabelledClip] = {}
    challenge, roles, ratings = description.challenge, {}, None
    people: Mapping[str, str] = {}
    alike: list[str] = []
    if table is not None:
        roles = _roles(table, description, problems)
        challenge = _completed(description, table, roles, sources.ends, problems)
        if "source" in roles:
            names = [cells[roles["source"]] for _, cells in table.rows]
            people, alike = same_people(names, sources.look_alikes, problems)
        if "clip" in roles:
            labelled, ratings = _labelled(table, roles, challenge.targets, clips, people, problems)
    groups: dict[str, dict[str, str]] = {}
    attributes: tuple[str, ...] = ()
    if sources.groups is not None:
        groups, attributes = _groups(
            sources.groups, labelled.values(), people, description, challenge.targets, problems
        )
    if sources.look_alikes != JOIN:
        confirm_same(alike, problems)
    problems.stop(f"{sources.clips} and {sources.labels}")
    return LabelledSet(
        name=re.sub(r"[^a-z0-9]+", "-", challenge.title.lower())[:LONGEST_NAME].strip("-") or "own",
        challenge=challenge,
        clips=tuple(
            replace(clip, groups=next((groups[name] for name in _names_of(clip) if name in groups), {}))
            for clip in labelled.values()
        ),
        attributes=attributes,
        has_sources="source" in roles,
        ratings=ratings,
    )


def _table(path: Path, option: str, problems: Problems) -> Table | None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BundleError(f"{option} {path}: {error.strerror}. Name a CSV file.") from error
    if (kind := placeholder(path.name, content[:START])) is not None:
        raise BundleError(f"{option} {path}: expected a table, found {kind[0]}. {kind[1].capitalize()}.")
    return read_table(content, path.name, problems)


def _roles(table: Table, description: Description, problems: Problems) -> dict[str, str]:
    """Return the role of each column, from the description, else from the usual names."""
    columns, header = description.columns, f"found {', '.join(table.columns)}"
    taken = {*columns.values(), *(target.column for target in description.challenge.targets), *description.ignore}
    roles = {}
    for role, usual in USUAL.items():
        named = columns.get(role)
        free = [column for column in table.columns if column not in taken and _plain(column) in usual]
        if named is not None and named not in table.columns:
            fix = "Correct columns: in the challenge file."
            problems.add("named columns that do not exist", f"{named} ({role}); {header}", fix=fix)
        elif named is not None:
            roles[role] = named
        elif free:
            roles[role] = min(free, key=lambda column: usual.index(_plain(column)))
    if "clip" not in roles and "clip" not in columns:
        fix = "Name the column of file names clip, or give its name under columns: in the challenge file."
        problems.add("tables without a clip column", header, fix=fix)
    return roles


def _plain(column: str) -> str:
    return re.sub(r"[\s_-]", "", column.lower())


def _completed(
    description: Description, table: Table, roles: Mapping[str, str], ends: tuple[float, float], problems: Problems
) -> Challenge:
    """Return the challenge with its targets: those it names, else all remaining columns."""
    challenge, header = description.challenge, f"found {', '.join(table.columns)}"
    if challenge.targets:
        missing = [f"{target.column}; {header}" for target in challenge.targets if target.column not in table.columns]
        problems.add("targets without a column", *missing, fix="Correct column: or name:.")
        return challenge
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        limits = f"--range {low:g} {high:g}"
        problems.add("ranges that cannot be used", limits, fix="Give two finite numbers, the smaller one first.")
        # So that no label is outside the range.
        ends = -math.inf, math.inf
    free = [column for column in table.columns if column not in {*roles.values(), *description.ignore}]
    usual = {name for role in roles for name in USUAL[role]}
    odd = [column for column in free if _plain(column) in usual or table.counts_rows(column)]
    fix = "List them under ignore: in the challenge file, or delete them."
    problems.add("columns that name clips, people or rows, which would become targets", *odd, fix=fix)
    protected = [column for column in free if _plain(column) in PROTECTED]
    fix = (
        "Move them to the table of --groups, or list them under ignore: in the challenge file. To predict them anyway, "
        "name every target under targets:."
    )
    problems.add("columns of personal attributes, which would become targets", *protected, fix=fix)
    targets = tuple(target_of(column, ends) for column in free if column not in (*protected, *odd))
    if not targets:
        problems.add("tables without labels", header, fix="Add a column of numbers for each target.")
    names = [target.name for target in targets]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems.add("columns whose short names are equal", *twice, fix="Rename one of them.")
    main = challenge.main_target or next(iter(names), "")
    if names and main not in names:
        fix = f"Name one of {', '.join(names)}."
        problems.add("main targets that do not exist", f"main_target: {main}", fix=fix)
    return replace(challenge, targets=targets, main_target=main)


def _labelled(
    table: Table,
    roles: Mapping[str, str],
    targets: Sequence[Target],
    clips: Mapping[str, FileLocation],
    people: Mapping[str, str],
    problems: Problems,
) -> tuple[dict[str, LabelledClip], Ratings | None]:
    """Return the labelled clips by file name, and how they were rated if the table says by whom."""
    rows_of = _rows_by_clip(table, roles["clip"], clips, problems)
    fix = "Add their rows, or remove the files from the folder."
    problems.add("clips without labels", *sorted(clips.keys() - rows_of.keys()), fix=fix)
    if not _tell_rows_apart(table, roles, rows_of, problems):
        return {}, None
    labelled: dict[str, LabelledClip] = {}
    rated: list[tuple[str, str, tuple[float, ...]]] = []
    for name, all_rows in rows_of.items():
        rows = all_rows if "rater" in roles else all_rows[:1]
        ratings = []
        for line, cells in rows:
            own = tuple(_label(cells, target, line, rows, table, problems) for target in targets)
            ratings.append(own)
            rated.append((name, cells[roles["rater"]] if "rater" in roles else "", own))
        labels = tuple(
            fmean([mark for mark in column if not math.isnan(mark)] or [math.nan])
            for column in zip(*ratings, strict=True)
        )
        cells_of = {role: [cells[column] for _, cells in rows] for role, column in roles.items()}
        sources = {people.get(source, source) for source in cells_of.get("source", [name])}
        transcripts = set(cells_of.get("transcript", ())) - {""} or {""}
        where = f"line {rows[0][0]}: {name}"
        for role, values in (("source", sources), ("transcript", transcripts)):
            if len(values) > 1:
                what = f"clips whose rows name more than one {role}"
                problems.add(what, f"{where} ({', '.join(sorted(values))})", fix=_TABLE_FIX)
        if "" in sources:
            problems.add("clips without a source", where, fix=f"Name the person or source video. {MERGED}")
        labelled[name] = LabelledClip(name, min(sources), clips[name], labels, min(transcripts))
    return labelled, agreement(rated, targets) if "rater" in roles and not problems else None


def _rows_by_clip(
    table: Table, column: str, clips: Mapping[str, FileLocation], problems: Problems
) -> dict[str, list[tuple[int, Mapping[str, str]]]]:
    """Return the rows of each clip by its file name."""
    spellings = _spellings(clips)
    rows_of: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    for line, cells in table.rows:
        file = cells[column].replace("\\", "/").rpartition("/")[2]
        matches = [file] if file in clips else spellings.get(file) or spellings.get(file.casefold(), [])
        if len(matches) == 1:
            rows_of.setdefault(matches[0], []).append((line, cells))
        else:
            what = "labels without a clip" if not matches else "labels that fit several clips"
            fix = "Add the file, or remove the row; capitals do not matter."
            problems.add(what, f"line {line}: {file}", fix=fix)
    return rows_of


def _tell_rows_apart(
    table: Table,
    roles: Mapping[str, str],
    rows_of: Mapping[str, Sequence[tuple[int, Mapping[str, str]]]],
    problems: Problems,
) -> bool:
    """Report rows of one clip and rater; return whether the table may still have a column for each target."""
    rows = sorted((line, name, cells) for name, own in rows_of.items() for line, cells in own)
    raters = [cells[roles["rater"]] if "rater" in roles else "" for _, _, cells in rows]
    seen: dict[tuple[str, str], int] = {}
    twice = []
    for (line, name, _), rater in zip(rows, raters, strict=True):
        if (first := seen.setdefault((name, rater), line)) != line:
            twice.append(f"lines {first} and {line}: {name}")
    fix = "Keep one row per clip, such as the mean, or name the raters in a column rater."
    apart = None
    for column in table.columns if len(rows) >= 2 * len(rows_of) else ():
        keys = {(name, rater, cells[column]) for (_, name, cells), rater in zip(rows, raters, strict=True)}
        values = sorted({value for _, _, value in keys})
        if twice and column not in roles.values() and len(keys) == len(rows) >= 2 * len(values):
            apart = column
            fix = (
                f"Column {column} tells them apart ({', '.join(values[:3])}, ...). If it names raters, call it rater; "
                "if it names what was rated (long format), make a column of each: in pandas, pivot() does so."
            )
            break
    problems.add("clips with several rows of labels", *twice, fix=fix)
    if "rater" in roles:
        nobody = [
            f"line {line}: {name}" for (line, name, _), rater in zip(rows, raters, strict=True) if is_nobody(rater)
        ]
        problems.add("ratings without a rater", *nobody, fix=f"Name the rater. {MERGED}")
    return apart is None


def _spellings(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the files that a name in a table may mean: it may lack the suffix, or differ in case. The former wins."""
    exact: dict[str, list[str]] = {}
    loose: dict[str, list[str]] = {}
    for name in names:
        stem = PurePosixPath(name).stem
        exact.setdefault(stem, []).append(name)
        for spelling in {name.casefold(), stem.casefold()}:
            loose.setdefault(spelling, []).append(name)
    return loose | exact


def _label(
    cells: Mapping[str, str],
    target: Target,
    line: int,
    rows: Sequence[tuple[int, Mapping[str, str]]],
    table: Table,
    problems: Problems,
) -> float:
    """Return one rating; NaN if there is none, which is a problem unless another of the clip's `rows` has one."""
    text = cells.get(target.column)
    if text is None:
        # The missing column has been reported already.
        return target.minimum
    if is_nobody(text) and not all(is_nobody(row[target.column]) for _, row in rows):
        return math.nan
    value = table.number(text)
    if math.isnan(value):
        fix = "Write a number. If the column is not a target, list it under ignore: in the challenge file."
        if not text:
            fix = f"Fill them. {MERGED}"
        problems.add("labels that are not numbers", f"line {line}, {target.column}: {text!r}", fix=fix)
    elif not target.minimum <= value <= target.maximum:
        fix = f"Give the range ({target.minimum:g} to {target.maximum:g} so far) with --range or in the challenge file."
        problems.add("labels outside their range", f"line {line}, {target.column}: {text}", fix=fix)
    return value


def _groups(
    path: Path,
    clips: Iterable[LabelledClip],
    people: Mapping[str, str],
    description: Description,
    targets: Sequence[Target],
    problems: Problems,
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """Return the groups by clip or source, whichever the table lists, and the attributes."""
    table = _table(path, "--groups", problems)
    if table is None:
        return {}, ()
    keys = [
        column
        for role in ("source", "clip")
        for column in table.columns
        if column == description.columns.get(role) or _plain(column) in USUAL[role]
    ]
    if not keys:
        fix = "Name the column of file names clip, or the column of people source."
        problems.add("tables of groups without a clip or source column", path.name, fix=fix)
        return {}, ()
    attributes = [column for column in table.columns if column not in {*keys, *description.ignore}]
    spelt = {column: re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") for column in attributes}
    _check_attributes(path.name, table, spelt, {target.name for target in targets}, problems)
    known = {name for clip in clips for name in _names_of(clip)}
    groups: dict[str, dict[str, str]] = {}
    for line, cells in table.rows:
        who = people.get(cells[keys[0]], cells[keys[0]])
        if who not in known:
            problems.add("groups of people without clips", f"{path.name}:{line}: {who}", fix=_TABLE_FIX)
        elif who in groups:
            problems.add("people with several rows of groups", f"{path.name}:{line}: {who}", fix=_TABLE_FIX)
        else:
            groups[who] = {name: cells[column] for column, name in spelt.items() if not is_nobody(cells[column])}
    return groups, tuple(spelt.values())


def _check_attributes(file: str, table: Table, spelt: Mapping[str, str], targets: set[str], problems: Problems) -> None:
    names = list(spelt.values())
    unclear = [column for column, name in spelt.items() if not name or names.count(name) > 1]
    fix = "Rename them, each differently, with letters a-z and digits."
    problems.add("attributes whose short names are empty or equal", *unclear, fix=fix)
    wrong = [column for column, name in spelt.items() if name in targets]
    problems.add("attributes that are also targets", *wrong, fix="Groups are never predicted: remove one of the two.")
    if not 1 <= len(names) <= MOST_ATTRIBUTES:
        what = "tables of groups with none or too many attributes"
        problems.add(what, f"{file}: {len(names)}", fix=f"Keep 1 to {MOST_ATTRIBUTES} columns.")
    for column in spelt:
        spellings: dict[str, set[str]] = {}
        for _, cells in table.rows:
            spellings.setdefault(" ".join(cells[column].casefold().split()), set()).add(cells[column])
        alike = [f"{column}: {', '.join(sorted(group))}" for group in spellings.values() if len(group) > 1]
        problems.add("groups spelt in several ways", *alike, fix="Spell each group in one way.")
    many = [column for column in spelt if len({cells[column] for _, cells in table.rows}) > MOST_GROUPS]
    problems.add("attributes with too many groups", *many, fix=f"Join them into at most {MOST_GROUPS}.")


def _names_of(clip: LabelledClip) -> tuple[str, str, str]:
    """Return the names by which a table of groups may refer to a clip."""
    return clip.name, PurePosixPath(clip.name).stem, clip.source
