"""The data set as one labelled set: everything is read and checked before anything is written."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.adapt.dataset import Clip, Dataset
from bundle_tools.adapt.first_impressions.facts import ATTRIBUTES, CLIP_NAME, MAIN_TARGET, SPLITS, TARGETS
from bundle_tools.adapt.first_impressions.labels import read_labels, read_transcripts
from bundle_tools.adapt.first_impressions.parts import Parts, sort_out
from bundle_tools.adapt.first_impressions.people import People, read_people
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.scan import scan
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

NAME = "first-impressions"


@dataclass(frozen=True)
class Found:
    """What was read, and what was left out."""

    dataset: Dataset
    """The labelled set, without minors."""
    official: dict[str, tuple[str, ...]]
    """Names of the clips of each official part, those with labels."""
    missing: tuple[str, ...]
    """A sentence for each part of the data set that is not there."""
    minors: int
    """Clips left out because somebody saw a person of 18 or younger in them."""
    minors_elsewhere: int
    """Clips left out because another clip of the same video shows one."""
    ageless: int
    """Clips whose age nobody judged, and that are kept."""
    incomplete: int
    """Clips without labels and labels without a clip, left out."""

    def summary(self) -> Iterator[str]:
        """Give the lines that an organiser reads before the clips are made."""
        clips = self.dataset.clips
        yield f"{len(clips)} clips with labels, of {len({clip.source for clip in clips})} videos."
        for line in self.missing:
            yield f"Missing: {line}"
        yield (
            f"Left out as minors: {self.minors} clips in which a rater saw somebody of 18 or younger, and "
            f"{self.minors_elsewhere} more of the same videos."
        )
        if self.ageless:
            yield f"Kept without a known age: {self.ageless} clips."
        if self.incomplete:
            yield f"Left out as incomplete: {self.incomplete} clips without labels, or labels without a clip."


def read_first_impressions(
    root: Path,
    problems: Problems | None = None,
    *,
    passwords: Sequence[bytes] = (),
    allow_incomplete: bool = False,
    allow_unknown_ages: bool = False,
    progress: Progress | None = None,
) -> Found:
    """Read the data set from the folder it was downloaded to.

    Parameters
    ----------
    root
        The folder, with archives as they are, or unpacked.
    problems
        What was found so far; told with everything that is found here.
    passwords
        Of encrypted archives.
    allow_incomplete
        Whether labels without a clip and clips without labels are left out instead of refused.
    allow_unknown_ages
        Whether clips are kept whose age nobody judged.
    progress
        Told of every file on disk.

    Raises
    ------
    BundleError
        With everything that has to be put right, at once.
    """
    if not root.is_dir():
        raise BundleError(f"--source {root}: expected the folder with the downloaded files, found none.")
    problems = problems or Problems()
    parts = sort_out(scan(root, passwords=passwords, problems=problems, progress=progress), problems)
    if not parts.annotations or not parts.clips:
        absent = "annotation_*.pkl" if not parts.annotations else "clips (<video>.<segment>.mp4)"
        problems.add("parts that nothing can be made without", absent, "Put them into the folder, archived or not.")
    labels = read_labels(parts.annotations, problems)
    transcripts = read_transcripts(parts.transcriptions, problems)
    people = read_people(parts.groups, parts.ages, problems)
    labelled = {clip: values for one in labels.values() for clip, values in one.items()}
    usable = sorted(labelled.keys() & parts.clips.keys())
    incomplete = labelled.keys() ^ parts.clips.keys()
    if not allow_incomplete:
        _check_complete(labelled.keys(), parts, problems)
    ageless = [clip for clip in usable if clip not in people.aged]
    if not allow_unknown_ages:
        fix = "Add the tables of ages, or --unknown-ages if you have looked and no minor is shown."
        problems.add_all("clips whose age nobody judged, so that they may show minors", ageless, fix)
    problems.stop(str(root))
    young = {_source(clip) for clip in people.minors}
    kept = [clip for clip in usable if _source(clip) not in young]
    minors = len(people.minors.intersection(usable))
    return Found(
        dataset=_dataset(kept, parts, labelled, transcripts, people),
        official={split: tuple(clip for clip in kept if clip in labels.get(split, {})) for split in SPLITS},
        missing=tuple(parts.missing()),
        minors=minors,
        minors_elsewhere=len(usable) - len(kept) - minors,
        ageless=sum(clip not in people.aged for clip in kept),
        incomplete=len(incomplete),
    )


def _check_complete(labelled: Iterable[str], parts: Parts, problems: Problems) -> None:
    fix = "Get the missing files, or add --incomplete to leave these out."
    problems.add_all("labels without a clip", sorted(set(labelled) - parts.clips.keys()), fix)
    problems.add_all("clips without labels", sorted(parts.clips.keys() - set(labelled)), fix)


def _dataset(
    names: Sequence[str],
    parts: Parts,
    labels: dict[str, tuple[float, ...]],
    transcripts: dict[str, str],
    people: People,
) -> Dataset:
    clips = tuple(
        Clip(
            name,
            _source(name),
            parts.clips[name],
            labels[name],
            transcripts.get(name, ""),
            people.groups.get(name, {}),
        )
        for name in names
    )
    attributes = tuple(one for one in ATTRIBUTES if any(one in clip.groups for clip in clips))
    return Dataset(NAME, TARGETS, MAIN_TARGET, clips, attributes)


def _source(clip: str) -> str:
    match = CLIP_NAME.fullmatch(clip)
    return match[1] if match else clip
