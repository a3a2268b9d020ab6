"""Baselines that open no video: the mean label, and the labels of other clips of the same video.

If clips of one video are on both sides of a split, looking up the others' labels does about as well as a good model, so
a score means little. This prints how well it does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.own_clips.dataset import Part
from bundle_tools.phase_data.settings import Challenge

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


def look_up(challenge: Challenge, training: Part, phase: Part) -> LookUp:
    """Score both baselines on a phase."""
    main = challenge.main
    span = challenge.targets[main].maximum - challenge.targets[main].minimum
    known: dict[str, list[float]] = {}
    for clip in training.clips:
        known.setdefault(clip.source, []).append(clip.labels[main])
    mean = float(np.mean([clip.labels[main] for clip in training.clips]))
    truth = np.array([clip.labels[main] for clip in phase.clips])
    found = np.array([clip.source in known for clip in phase.clips])
    predicted = np.array([float(np.mean(known.get(clip.source, [mean]))) for clip in phase.clips])
    accuracy = 1 - np.abs(truth - predicted) / span
    return LookUp(
        phase=phase.name,
        clips=len(truth),
        siblings=int(found.sum()),
        constant=float(np.mean(1 - np.abs(truth - mean) / span)),
        accuracy=float(accuracy.mean()),
        accuracy_siblings=float(accuracy[found].mean()) if found.any() else float("nan"),
        ccc=_concordance(truth, predicted),
    )


def _concordance(truth: Array, predicted: Array) -> float:
    """Concordance correlation coefficient (Lin 1989), with population moments."""
    spread = truth.var() + predicted.var() + (truth.mean() - predicted.mean()) ** 2
    shared = np.mean((truth - truth.mean()) * (predicted - predicted.mean()))
    return float(2 * shared / spread) if spread > 0 else 0.0


def look_up_table(challenge: Challenge, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the lines of a small table: the phases among the parts, looked up in the public data."""
    training = next(part for part in parts if not part.is_phase)
    yield f"{challenge.targets[challenge.main].title} without opening a video (accuracy is 1 - mean absolute error):"
    yield f"{'phase':<10} {'clips':>6} {'known video':>12} {'constant':>9} {'look-up':>9} {'on known':>9} {'CCC':>6}"
    for one in (look_up(challenge, training, part) for part in parts if part.is_phase):
        known = f"{one.accuracy_siblings:9.4f}" if one.siblings else f"{'-':>9}"
        yield (
            f"{one.phase:<10} {one.clips:>6} {one.siblings:>12} {one.constant:>9.4f} {one.accuracy:>9.4f} "
            f"{known} {one.ccc:>6.3f}"
        )
