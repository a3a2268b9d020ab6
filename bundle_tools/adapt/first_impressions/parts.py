"""Which of the files that were found is which part of the data set, and which parts are missing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bundle_tools.adapt.first_impressions.facts import CLIP_NAME, SPLITS
from bundle_tools.adapt.places import Place
from bundle_tools.adapt.problems import Problems

_GROUPS = re.compile(r"eth_gender_annotations_[a-z]+\.csv", re.IGNORECASE)
_AGES = re.compile(r"[a-z_]*age_?(anno|label|group)[a-z0-9_{}-]*\.csv", re.IGNORECASE)
_VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".webm")


@dataclass(frozen=True)
class Parts:
    """The files of the data set."""

    clips: dict[str, Place]
    """By name."""
    annotations: dict[str, Place]
    """Labels by official part."""
    transcriptions: dict[str, Place]
    """What is said, by official part."""
    groups: tuple[Place, ...]
    """Tables of ethnicity and gender."""
    ages: tuple[Place, ...]
    """Tables of ages."""

    def missing(self) -> Iterator[str]:
        """Give a sentence for each part that is not there."""
        for split in SPLITS:
            if split not in self.annotations:
                yield f"annotation_{split}.pkl: the {split} clips have no labels."
            elif split not in self.transcriptions:
                yield f"transcription_{split}.pkl: the {split} clips have no transcripts."
        if len(self.groups) < 2:
            yield "eth_gender_annotations_dev.csv and _test.csv: fairness between groups is measured where they are."
        if not self.ages:
            yield "the tables of ages (fi_age_labels.zip): clips of minors cannot be told."


def sort_out(places: Sequence[Place], problems: Problems) -> Parts:
    """Tell what each file is; others are left alone."""
    clips = [place for place in places if place.name.lower().endswith(_VIDEOS)]
    odd = [str(place) for place in clips if not CLIP_NAME.fullmatch(place.name)]
    problems.add_all("videos with another name than the data set's", odd, "Take them out of the folder.")
    return Parts(
        clips=_once([place for place in clips if CLIP_NAME.fullmatch(place.name)], problems),
        annotations=_by_split("annotation", places, problems),
        transcriptions=_by_split("transcription", places, problems),
        groups=tuple(_once([place for place in places if _GROUPS.fullmatch(place.name)], problems).values()),
        ages=tuple(_once([place for place in places if _AGES.fullmatch(place.name)], problems).values()),
    )


def _by_split(kind: str, places: Sequence[Place], problems: Problems) -> dict[str, Place]:
    named = {f"{kind}_{split}.pkl": split for split in SPLITS}
    found = _once([place for place in places if place.name in named], problems)
    return {named[name]: place for name, place in found.items()}


def _once(places: Sequence[Place], problems: Problems) -> dict[str, Place]:
    """Give files by name; names that stand twice are problems."""
    found: dict[str, Place] = {}
    for place in places:
        if place.name in found:
            problems.add("files that are there twice", f"{found[place.name]} and {place}", "Delete one of them.")
        found.setdefault(place.name, place)
    return found
