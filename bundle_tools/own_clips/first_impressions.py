"""Read the First Impressions data sets as they are distributed: clips, labels, transcripts and groups."""

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet, Split
from bundle_tools.own_clips.files import FileLocation, Problems, by_name, read_one, scan
from bundle_tools.own_clips.folder import VIDEOS
from bundle_tools.own_clips.table import read_table
from bundle_tools.synthetic.dataset import CHALLENGE as DRAWN
from model_process.pickles import PickleRefused, read_pickle

CLIP_NAME = re.compile(r"([A-Za-z0-9_-]{11})\.[0-9]{3}\.mp4")
"""A YouTube video id and a segment number."""

OFFICIAL = {"training": "training", "practice": "validation", "final": "test"}
"""The official part, as spelt in file names, that each of our parts replicates."""
SPLITS = tuple(OFFICIAL.values())

OLD_TARGETS = {"neuroticism": "emotional_stability"}
"""Columns that have another name here."""
_COLUMNS = {name: column for column, name in OLD_TARGETS.items()}
CHALLENGE = replace(
    DRAWN,
    targets=tuple(replace(target, column=_COLUMNS.get(target.name, target.name)) for target in DRAWN.targets),
    # The 2017 winner reported errors between 0.076 and 0.085 for the traits.
    skill_reference={target.name: 0.08 for target in DRAWN.targets},
)

ETHNICITIES = {"1": "Asian", "2": "Caucasian", "3": "African-American"}
GENDERS = {"1": "male", "2": "female"}
AGES = {"1": "0-6", "2": "7-13", "3": "14-18", "4": "19-24", "5": "25-32", "6": "33-45", "7": "46-60", "8": "61+"}
OLDEST_MINOR = 3
"""The highest age group that includes people of 18 or younger."""
ATTRIBUTES = ("age", "ethnicity", "gender")

DOWNLOAD_AGAIN = "Download them again."
STABILITY = """\
`emotional_stability` is called "neuroticism" in the files of the data set, which is the wrong way round: raters were
asked who looks more comfortable, and high values mean calm. The values are unchanged, only the name is put right.
"""
NOTES = f"""\
{STABILITY}
The labels are first impressions of strangers. They are neither personality nor suitability for a job, and they carry
the raters' prejudices about gender, age and ethnicity.

The clips and labels come from ChaLearn First Impressions V2, for research only: labels under CC BY-NC 4.0, clips under
the terms of the data set. Do not pass them on, and do not try to find out who is shown.
"""


LARGEST_PICKLE = 64 << 20
COLUMNS = tuple(target.column for target in CHALLENGE.targets)
_BROKEN = "pickles unlike those of the data set"


def read_labels(places: Mapping[str, FileLocation], problems: Problems) -> dict[str, dict[str, tuple[float, ...]]]:
    """Read the labels of every official part.

    `places`: ``annotation_*.pkl`` by official part: a dict of columns, each a dict of clips. Returns labels by official
    part and clip, in the order of our targets; clips with a problem are left out.
    """
    labels = {split: _rows(_columns(file, problems), file, problems) for split, file in places.items()}
    seen: dict[str, str] = {}
    for split, rows in labels.items():
        for clip in rows:
            if seen.setdefault(clip, split) != split:
                where = f"{clip} (in {seen[clip]} and in {split})"
                problems.add("clips with labels in two parts", where, fix=DOWNLOAD_AGAIN)
    return labels


def read_transcripts(places: Mapping[str, FileLocation], problems: Problems) -> dict[str, str]:
    """Read the transcripts: ``transcription_*.pkl``, each a dict of texts by clip."""
    transcripts: dict[str, str] = {}
    for file in places.values():
        for key, text in (_unpickled(file, problems) or {}).items():
            if isinstance(key, str) and isinstance(text, str):
                transcripts[key] = text
            else:
                problems.add(_BROKEN, f"{file} (expected texts by clip)", fix=DOWNLOAD_AGAIN)
                break
    return transcripts


def _unpickled(file: FileLocation, problems: Problems) -> dict[object, object] | None:
    """Return a pickle's dict; if it cannot be read, note a problem and return None."""
    content = read_one(file) if file.size <= LARGEST_PICKLE else f"{file.size} bytes"
    if isinstance(content, str):
        problems.add("files that cannot be read", f"{file} ({content})", fix=DOWNLOAD_AGAIN)
        return None
    try:
        unpickled = read_pickle(content)
    except PickleRefused as error:
        problems.add(_BROKEN, f"{file} ({error})", fix=DOWNLOAD_AGAIN)
        return None
    if not isinstance(unpickled, dict):
        problems.add(_BROKEN, f"{file} (expected a dict)", fix=DOWNLOAD_AGAIN)
        return None
    return unpickled


def _columns(file: FileLocation, problems: Problems) -> dict[str, dict[object, object]]:
    """Return the six columns; if they are not the expected ones, note a problem and return none."""
    content = _unpickled(file, problems)
    if content is None:
        return {}
    expected = f"Expected {', '.join(sorted(COLUMNS))}."
    columns = {str(name): column for name, column in content.items() if isinstance(column, dict)}
    missing, unknown = set(COLUMNS) - columns.keys(), set(map(str, content)) - set(COLUMNS)
    problems.add("missing columns", *(f"{file}: {name}" for name in sorted(missing)), fix=expected)
    problems.add("unknown columns", *(f"{file}: {name}" for name in sorted(unknown)), fix=expected)
    return {} if missing or unknown else columns


def _rows(
    columns: Mapping[str, Mapping[object, object]], file: FileLocation, problems: Problems
) -> dict[str, tuple[float, ...]]:
    rows: dict[str, tuple[float, ...]] = {}
    for clip in dict.fromkeys(clip for column in columns.values() for clip in column):
        if not isinstance(clip, str) or not CLIP_NAME.fullmatch(clip):
            problems.add("labels of names that are not clips", f"{file}: {clip}", fix=DOWNLOAD_AGAIN)
            continue
        absent = [name for name in COLUMNS if columns[name].get(clip) is None]
        numbers = tuple(_number(columns[name].get(clip)) for name in COLUMNS)
        if absent:
            where = f"{file}: {clip} ({', '.join(absent)})"
            problems.add("clips without some of the labels", where, fix=DOWNLOAD_AGAIN)
        elif not all(0 <= value <= 1 for value in numbers):
            problems.add("labels that are not numbers from 0 to 1", f"{file}: {clip}", fix=DOWNLOAD_AGAIN)
        else:
            rows[clip] = numbers
    return rows


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


@dataclass(frozen=True)
class People:
    """Attributes of the people shown."""

    groups: Mapping[str, Mapping[str, str]]
    """Groups by clip, then by attribute."""
    aged: frozenset[str]
    minors: frozenset[str]
    """Clips in which any rater saw a person of 18 or younger."""


def read_people(groups: Iterable[FileLocation], ages: Iterable[FileLocation], problems: Problems) -> People:
    """Read all tables.

    If several raters gave a clip's age, the group is their median, and the clip counts as showing a minor if any rater
    says so.
    """
    groups_by_clip: dict[str, dict[str, str]] = {}
    for clip, column, code in _codes(groups, {"Ethnicity": ETHNICITIES, "Gender": GENDERS}, problems):
        names = ETHNICITIES if column == "Ethnicity" else GENDERS
        groups_by_clip.setdefault(clip, {})[column.lower()] = names[code]
    judged: dict[str, list[int]] = {}
    for clip, _, code in _codes(ages, {"AgeGroup": AGES}, problems):
        judged.setdefault(clip, []).append(int(code))
    for clip, ratings in judged.items():
        groups_by_clip.setdefault(clip, {})["age"] = AGES[str(statistics.median_low(ratings))]
    minors = frozenset(clip for clip, ratings in judged.items() if min(ratings) <= OLDEST_MINOR)
    return People(groups_by_clip, frozenset(judged), minors)


def _codes(
    places: Iterable[FileLocation], known: Mapping[str, Mapping[str, str]], problems: Problems
) -> Iterator[tuple[str, str, str]]:
    """Yield clip, column and code of every cell in the columns of `known`, which lists each column's codes."""
    for file in places:
        content = read_one(file)
        if isinstance(content, str):
            problems.add("files that cannot be read", f"{file} ({content})", fix=DOWNLOAD_AGAIN)
            continue
        table = read_table(content, str(file), problems, wanted=("VideoName", *known))
        for line, row in table.rows if table else ():
            clip = row["VideoName"].removesuffix(".mp4") + ".mp4"
            if not CLIP_NAME.fullmatch(clip):
                where = f"{file}:{line} ({row['VideoName']})"
                problems.add("rows about names that are not clips", where, fix="Correct the table.")
            for column, names in known.items():
                # Some tables write 5 as 5.0.
                code = row[column].removesuffix(".0")
                if code not in names:
                    where = f"{file}:{line} ({column}): {row[column]!r}"
                    fix = f"Known are {', '.join(f'{code} {name}' for code, name in names.items())}."
                    problems.add("unknown codes", where, fix=fix)
                elif CLIP_NAME.fullmatch(clip):
                    yield clip, column, code


NAME = "first-impressions"
_GROUPS = re.compile(r"eth_gender_annotations_[a-z]+\.csv", re.IGNORECASE)
_AGES = re.compile(r"[a-z_]*age_?(anno|label|group)[a-z0-9_{}-]*\.csv", re.IGNORECASE)


@dataclass(frozen=True)
class Files:
    """Files by their role in the data set: clips and tables by name, labels and transcripts by official part."""

    clips: dict[str, FileLocation]
    annotations: dict[str, FileLocation]
    transcriptions: dict[str, FileLocation]
    groups: dict[str, FileLocation]
    ages: dict[str, FileLocation]

    def missing(self) -> Iterator[str]:
        """Yield a sentence for each missing part."""
        for split in SPLITS:
            if split not in self.annotations:
                yield f"annotation_{split}.pkl: the {split} clips have no labels."
            elif split not in self.transcriptions:
                yield f"transcription_{split}.pkl: the {split} clips have no transcripts."
        if len(self.groups) < 2:
            yield "eth_gender_annotations_dev.csv and _test.csv: fairness between groups is measured only with them."
        if not self.ages:
            yield "the tables of ages (fi_age_labels.zip): without them clips of minors cannot be found."


@dataclass(frozen=True)
class FoundSet:
    """What was read, and what was left out."""

    dataset: LabelledSet
    official: dict[str, frozenset[str]]
    """Names of the labelled clips of each official part."""
    summary: tuple[str, ...]
    """Lines that an organiser reads before the clips are made."""

    def official_parts(self) -> tuple[Split, ...]:
        """Return the training, validation and test parts of 2017.

        Raises BundleError when one of them has no clips.
        """
        parts = tuple(
            Split(part, tuple(clip for clip in self.dataset.clips if clip.name in self.official[split]))
            for part, split in OFFICIAL.items()
        )
        empty = [OFFICIAL[part.name] for part in parts if not part.clips]
        if empty:
            raise BundleError(f"--official-split: no clips with labels in {', '.join(empty)}. Add the missing files.")
        return parts


def read_first_impressions(
    root: Path,
    problems: Problems,
    *,
    passwords: Sequence[bytes] = (),
    allow_incomplete: bool = False,
    allow_unknown_ages: bool = False,
    progress: Progress | None = None,
) -> FoundSet:
    """Read the data set from the folder it was downloaded to.

    `root`: the folder; archives may be packed or unpacked.
    `allow_incomplete`: whether labels without a clip and clips without labels are left out instead of refused.
    `allow_unknown_ages`: whether clips without an age rating are kept.
    Raises BundleError with all problems.
    """
    if not root.is_dir():
        raise BundleError(f"--source {root}: expected the folder with the downloaded files, found none.")
    files = _sort_out(scan(root, passwords=passwords, problems=problems, progress=progress), problems)
    if not files.annotations or not files.clips:
        absent = "annotation_*.pkl" if not files.annotations else "clips (<video>.<segment>.mp4)"
        fix = "Put them into the folder, archived or not."
        problems.add("missing parts that are required", absent, fix=fix)
    labels = read_labels(files.annotations, problems)
    transcripts = read_transcripts(files.transcriptions, problems)
    people = read_people(files.groups.values(), files.ages.values(), problems)
    labelled = {clip: values for rows in labels.values() for clip, values in rows.items()}
    usable = sorted(labelled.keys() & files.clips.keys())
    if not allow_incomplete:
        fix = "Get the missing files, or add --incomplete to leave these out."
        problems.add("labels without a clip", *sorted(labelled.keys() - files.clips.keys()), fix=fix)
        problems.add("clips without labels", *sorted(files.clips.keys() - labelled.keys()), fix=fix)
    if not allow_unknown_ages:
        fix = "Add the tables of ages, or --unknown-ages after checking that no minor is shown."
        ageless = [clip for clip in usable if clip not in people.aged]
        problems.add("clips without an age rating, which may show minors", *ageless, fix=fix)
    problems.stop(str(root))
    young = {_source(clip) for clip in people.minors}
    clips = tuple(
        LabelledClip(
            clip,
            _source(clip),
            files.clips[clip],
            labelled[clip],
            transcripts.get(clip, ""),
            people.groups.get(clip, {}),
        )
        for clip in usable
        if _source(clip) not in young
    )
    attributes = tuple(attribute for attribute in ATTRIBUTES if any(attribute in clip.groups for clip in clips))
    official = {split: frozenset(labels.get(split, ())) for split in SPLITS}
    minors = len(people.minors.intersection(usable))
    summary = [
        f"{len(clips)} clips with labels, of {len({clip.source for clip in clips})} videos.",
        *(f"Missing: {line}" for line in files.missing()),
        f"Left out as minors: {minors} clips in which a rater saw somebody aged 18 or younger, and "
        f"{len(usable) - len(clips) - minors} more of the same videos.",
    ]
    if kept_without := sum(clip.name not in people.aged for clip in clips):
        summary.append(f"Kept without a known age: {kept_without} clips.")
    if incomplete := len(labelled.keys() ^ files.clips.keys()):
        summary.append(f"Left out as incomplete: {incomplete} clips without labels, or labels without a clip.")
    return FoundSet(LabelledSet(NAME, CHALLENGE, clips, attributes), official, tuple(summary))


def _sort_out(places: Sequence[FileLocation], problems: Problems) -> Files:
    clips = [file for file in places if file.name.lower().endswith(VIDEOS)]
    odd = [str(file) for file in clips if not CLIP_NAME.fullmatch(file.name)]
    problems.add("videos whose name is not of the data set", *odd, fix="Remove them from the folder.")

    def chosen(pattern: re.Pattern[str]) -> dict[str, FileLocation]:
        matching = [file for file in places if pattern.fullmatch(file.name)]
        return by_name(matching, "duplicate files", problems, fix="Delete one of them.")

    def by_split(kind: str) -> dict[str, FileLocation]:
        files = chosen(re.compile(rf"{kind}_({'|'.join(SPLITS)})\.pkl"))
        return {name.removesuffix(".pkl").rpartition("_")[2]: listed for name, listed in files.items()}

    return Files(chosen(CLIP_NAME), by_split("annotation"), by_split("transcription"), chosen(_GROUPS), chosen(_AGES))


def _source(clip: str) -> str:
    match = CLIP_NAME.fullmatch(clip)
    return match[1] if match else clip
