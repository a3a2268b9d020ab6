"""A data set of an organiser's own clips: its rows, its problems, and its split into phases by person."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.own_clips.ratings import Ratings
from bundle_tools.phase_data.settings import Challenge
from bundle_tools.synthetic.person import stream

PUBLIC = "training"
"""The part that participants get with its labels; every other part is a phase."""
RATER = re.compile(r"(.+?)_?(?:r|rater|annotator|coder|judge)_?\d+")
"""Name of a target that ends like that of a rater."""
CLOSED = "final"
"""The phase whose labels and single clips stay hidden."""


@dataclass(frozen=True)
class LabelledClip:
    """One labelled clip."""

    name: str
    """Its true name, which only the organiser sees."""
    source: str
    """True name of the source video or person; all clips of a source stay in one part."""
    location: FileLocation
    labels: tuple[float, ...]
    """One value per target, in the order of the challenge's targets."""
    transcript: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group by attribute, for measuring fairness; unknown attributes are missing."""


@dataclass(frozen=True)
class LabelledSet:
    """A labelled set of clips."""

    name: str
    """Short name, for `data_version`: lower-case letters, digits and hyphens."""
    challenge: Challenge
    clips: tuple[LabelledClip, ...]
    attributes: tuple[str, ...] = ()
    """Names of the group attributes, in the order of their columns."""
    has_sources: bool = True
    """Whether it is known which clips show the same person; otherwise every clip counts as a different one."""
    ratings: Ratings | None = None
    """How far raters agree, if the labels are means of several."""


@dataclass(frozen=True)
class Split:
    """One part of a set: a phase, or what participants may download."""

    name: str
    """`PUBLIC`, or a phase: practice or final."""
    clips: tuple[LabelledClip, ...]

    @property
    def is_phase(self) -> bool:
        """Whether it has input and reference data; otherwise it is public data with labels."""
        return self.name != PUBLIC

    @property
    def is_open(self) -> bool:
        """Whether single clips and labels are shown in the report."""
        return self.name != CLOSED

    @property
    def people(self) -> int:
        """How many people or source videos are in it."""
        return len({clip.source for clip in self.clips})


Array = NDArray[np.float64]


@dataclass(frozen=True)
class LookUp:
    """The two baselines on one phase, for the main target."""

    phase: str
    clips: int
    siblings: int
    """Number of clips whose video also has clips in the training data."""
    constant: float
    """Accuracy (1 - mean absolute error / range) of the training mean."""
    accuracy: float
    """Accuracy of the mean label of the video's training clips, or of the training mean if it has none."""
    accuracy_siblings: float
    """The same, over only the clips whose video has training clips; NaN without any."""
    ccc: float
    """Concordance of the looked-up labels with the true ones, -1 to 1; 0 for a constant."""


def look_up(challenge: Challenge, training: Split, phase: Split) -> LookUp:
    """Score both baselines on a phase."""
    main = challenge.main
    span = challenge.targets[main].maximum - challenge.targets[main].minimum
    known: dict[str, list[float]] = {}
    for clip in training.clips:
        known.setdefault(clip.source, []).append(clip.labels[main])
    mean = float(np.mean([clip.labels[main] for clip in training.clips]))
    truth = np.array([clip.labels[main] for clip in phase.clips])
    known_source = np.array([clip.source in known for clip in phase.clips])
    predicted = np.array([float(np.mean(known.get(clip.source, [mean]))) for clip in phase.clips])
    accuracy = 1 - np.abs(truth - predicted) / span
    return LookUp(
        phase=phase.name,
        clips=len(truth),
        siblings=int(known_source.sum()),
        constant=float(np.mean(1 - np.abs(truth - mean) / span)),
        accuracy=float(accuracy.mean()),
        accuracy_siblings=float(accuracy[known_source].mean()) if known_source.any() else float("nan"),
        ccc=_concordance(truth, predicted),
    )


def _concordance(truth: Array, predicted: Array) -> float:
    """Concordance correlation coefficient (Lin 1989), with population moments."""
    spread = truth.var() + predicted.var() + (truth.mean() - predicted.mean()) ** 2
    shared = np.mean((truth - truth.mean()) * (predicted - predicted.mean()))
    return float(2 * shared / spread) if spread > 0 else 0.0


def look_up_table(challenge: Challenge, parts: Sequence[Split]) -> Iterator[str]:
    """Yield the lines of a small table: the phases among the parts, looked up in the public data."""
    training = next(part for part in parts if not part.is_phase)
    yield f"{challenge.targets[challenge.main].title} without opening a video (accuracy is 1 - mean absolute error):"
    yield f"{'phase':<10} {'clips':>6} {'known video':>12} {'constant':>9} {'look-up':>9} {'on known':>9} {'CCC':>6}"
    for result in (look_up(challenge, training, part) for part in parts if part.is_phase):
        known = f"{result.accuracy_siblings:9.4f}" if result.siblings else f"{'-':>9}"
        yield (
            f"{result.phase:<10} {result.clips:>6} {result.siblings:>12} {result.constant:>9.4f} "
            f"{result.accuracy:>9.4f} {known} {result.ccc:>6.3f}"
        )


NEIGHBOURS = 8
"""Number of sources with similar labels that are shuffled together."""
TOLERANCE = 0.2
"""How far the size of a part may differ from the requested size without a warning."""


def split_by_source(dataset: LabelledSet, sizes: Mapping[str, int], *, seed: int) -> tuple[Split, ...]:
    """Split the clips.

    Sources are sorted by their mean main target, shuffled among neighbours, and each goes to the part that is furthest
    behind its share. So every part spans the whole range of labels, and no person is in two parts. A source with more
    clips than a phase should have goes to another part, unless no source is smaller.

    `sizes`: requested number of clips of each phase; met to within the clips of one source.
    `seed`: seed of the random order.
    Returns the phases, and public data with all other clips; clips keep the order of the set.
    Raises BundleError when there are too few clips or sources.
    """
    families: dict[str, list[LabelledClip]] = {}
    for clip in dataset.clips:
        families.setdefault(clip.source, []).append(clip)
    total, wanted = len(dataset.clips), sum(sizes.values())
    if wanted >= total or len(families) <= len(sizes):
        raise BundleError(
            f"expected more than {wanted} clips of more than {len(sizes)} people or source videos, so that every part "
            f"gets some and {PUBLIC} too; found {total} clips of {len(families)}. Ask for smaller parts."
        )
    smallest = min(map(len, families.values()))
    largest = {name: max(size, smallest) for name, size in sizes.items()}
    # Sources too large for any phase become public, which leaves less room for others there.
    part_of = {source: PUBLIC for source, clips in families.items() if len(clips) > max(largest.values())}
    left = total - wanted - sum(len(families[source]) for source in part_of)
    targets = {**sizes, **({PUBLIC: left} if left > 0 else {})}
    dealt_to, dealt = dict.fromkeys(targets, 0), 0
    for source in _order(families, dataset.challenge.main, seed):
        if source in part_of:
            continue
        count = len(families[source])
        dealt += count
        # Relative to each part's share: otherwise the largest part would always be furthest behind.
        fitting = [name for name in targets if count <= largest.get(name, count)]
        part = max(fitting, key=lambda name: dealt / sum(targets.values()) - dealt_to[name] / targets[name])
        dealt_to[part] += count
        part_of[source] = part
    parts = tuple(
        Split(name, tuple(clip for clip in dataset.clips if part_of[clip.source] == name)) for name in (*sizes, PUBLIC)
    )
    empty = [part.name for part in parts if not part.clips]
    if empty:
        raise BundleError(f"no clips are left for {', '.join(empty)}: too few people or source videos. Ask for others.")
    return parts


def remarks_on_targets(dataset: LabelledSet) -> Iterator[str]:
    """Yield what is odd about targets: one label for all clips, or names that seem to number the raters of one."""
    alike: dict[str, list[str]] = {}
    for at, target in enumerate(dataset.challenge.targets):
        if len({clip.labels[at] for clip in dataset.clips}) == 1:
            yield f"{target.name} is the same for all clips: no model can be told from another by it"
        if numbered := RATER.fullmatch(target.name):
            alike.setdefault(numbered[1], []).append(target.name)
    for names in alike.values():
        if len(names) > 1:
            yield (
                f"{', '.join(names)} are targets of their own. If they are raters of one target, write one row per "
                "rating, with a column rater: the mean counts"
            )


def off_size(parts: Sequence[Split], sizes: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each part that is far from the requested size."""
    for part in parts:
        size = sizes.get(part.name, len(part.clips))
        if abs(len(part.clips) - size) > TOLERANCE * size:
            yield (
                f"WARNING: {part.name} has {len(part.clips)} clips instead of {size}: all clips of a person or source "
                "video stay together. Ask for another size, or add people."
            )


def _order(families: Mapping[str, Sequence[LabelledClip]], main: int, seed: int) -> list[str]:
    """Sort sources by mean label, shuffled among neighbours."""
    draw = stream(seed, "split")
    sources = sorted(families, key=lambda who: (float(np.mean([clip.labels[main] for clip in families[who]])), who))
    shuffled: list[str] = []
    for start in range(0, len(sources), NEIGHBOURS):
        block = sources[start : start + NEIGHBOURS]
        shuffled += [block[at] for at in draw.permutation(len(block))]
    return shuffled
