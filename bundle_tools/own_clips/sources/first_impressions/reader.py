"""Read the whole data set and check it before anything is written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import Clip, Dataset, Part
from bundle_tools.own_clips.files.places import Place
from bundle_tools.own_clips.files.scan import by_name, scan
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.sources.first_impressions.facts import ATTRIBUTES, CHALLENGE, CLIP_NAME, OFFICIAL, SPLITS
from bundle_tools.own_clips.sources.first_impressions.labels import read_labels, read_transcripts
from bundle_tools.own_clips.sources.first_impressions.people import read_people
from bundle_tools.own_clips.sources.folder import VIDEOS

NAME = "first-impressions"
_GROUPS = re.compile(r"eth_gender_annotations_[a-z]+\.csv", re.IGNORECASE)
_AGES = re.compile(r"[a-z_]*age_?(anno|label|group)[a-z0-9_{}-]*\.csv", re.IGNORECASE)


@dataclass(frozen=True)
class Files:
    """Files by their role in the data set; others are ignored."""

    clips: dict[str, Place]
    """Clips by name."""
    annotations: dict[str, Place]
    """Labels by official part."""
    transcriptions: dict[str, Place]
    """Transcripts by official part."""
    groups: dict[str, Place]
    """Tables of ethnicity and gender, by name."""
    ages: dict[str, Place]
    """Tables of ages, by name."""

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

    dataset: Dataset
    """The labelled set, without minors."""
    official: dict[str, frozenset[str]]
    """Names of the labelled clips of each official part."""
    summary: tuple[str, ...]
    """Lines that an organiser reads before the clips are made."""

    def official_parts(self) -> tuple[Part, ...]:
        """Return the training, validation and test parts of 2017.

        Raises BundleError when one of them has no clips.
        """
        parts = tuple(
            Part(part, tuple(clip for clip in self.dataset.clips if clip.name in self.official[split]))
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
        Clip(
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
    attributes = tuple(one for one in ATTRIBUTES if any(one in clip.groups for clip in clips))
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
    return FoundSet(Dataset(NAME, CHALLENGE, clips, attributes), official, tuple(summary))


def _sort_out(places: Sequence[Place], problems: Problems) -> Files:
    clips = [place for place in places if place.name.lower().endswith(VIDEOS)]
    odd = [str(place) for place in clips if not CLIP_NAME.fullmatch(place.name)]
    problems.add("videos whose name is not of the data set", *odd, fix="Remove them from the folder.")

    def chosen(pattern: re.Pattern[str]) -> dict[str, Place]:
        matching = [place for place in places if pattern.fullmatch(place.name)]
        return by_name(matching, "duplicate files", problems, fix="Delete one of them.")

    def by_split(kind: str) -> dict[str, Place]:
        found = chosen(re.compile(rf"{kind}_({'|'.join(SPLITS)})\.pkl"))
        return {name.removesuffix(".pkl").rpartition("_")[2]: place for name, place in found.items()}

    return Files(chosen(CLIP_NAME), by_split("annotation"), by_split("transcription"), chosen(_GROUPS), chosen(_AGES))


def _source(clip: str) -> str:
    match = CLIP_NAME.fullmatch(clip)
    return match[1] if match else clip
