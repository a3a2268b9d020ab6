"""Cue by cue: what was claimed, what the prediction did without the cue, and what to do about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.table import ClipAxes
from score.order import correlation
from score.read.outcomes import Outcomes

Array = NDArray[np.float64]
FEWEST = 5
"""Fewest tested clips, and fewest targets, from which a pattern over the targets can be told from chance."""
ALIKE = 0.9
"""Cosine of two patterns over the targets from which they count as the same."""
VERDICTS: Mapping[str, tuple[str, str]] = {
    "unclaimed": ("unclaimed", "Measure better, or claim it."),
    "wrong_sign": ("wrong sign", "Measure better, or turn the sign."),
    "no_effect": ("no effect", "Do not claim it: the model does not use it."),
    "right": ("as claimed", ""),
    "unused": ("not used", ""),
    "untested": ("not tested", ""),
}
"""Verdict -> its words and what to do; if two are equally frequent, the first counts."""
TITLES = ("Cue", "Tested", "Verdict", "Clips", "Claim", "Effect", "Moved like", "Known causes", "To do")
LEAKS = (
    "Moved like: without the cue, all targets moved in the pattern of the claims of another one, whose measure seems "
    "to react to it. Known causes: correlation of the claims with the known causes."
)
"""What the columns of the table mean whose titles do not say it."""


@dataclass(frozen=True)
class CueNumbers:
    """One cue over all clips that count; claims and effects are about each clip's evaluated target."""

    cue: str
    clips: Mapping[str, int]
    """How many of the tested clips have each verdict, by key of ``VERDICTS``, but for ``untested``."""
    claim: float | None
    """Mean size of the claims on the tested clips, in [0, 1]; None without a tested clip."""
    effect: float | None
    """Mean size of the effects on the same clips, as a share of the range."""
    moved_like: tuple[str, ...]
    """Other cues, the most alike first: without this one, all targets moved in the pattern of the claims of those."""
    with_causes: float | None
    """Correlation of the claims with the known causes, all targets together; None without causes or claims."""

    @property
    def tested(self) -> int:
        """Number of clips that were asked without the cue and answered."""
        return sum(self.clips.values())

    @property
    def verdict(self) -> str:
        """The most frequent verdict of a clip; ``unused`` only if there is no other."""
        counts = {key: count for key, count in self.clips.items() if count and key != "unused"}
        return max(counts, key=lambda key: counts[key], default="unused" if self.tested else "untested")


def cue_table(outcomes: Outcomes, axes: ClipAxes, vocabulary: Sequence[str]) -> tuple[CueNumbers, ...]:
    """Compare claims with effects and known causes, for each cue of the vocabulary; the largest effects come first.

    If removing a cue moves the targets in the pattern of another cue's claims, and not in that of its own, then the
    model's measure of the other cue also reacts to this one. `outcomes`: those of the clips that count.
    """
    effects, claims, rows = axes.effects, axes.readings.claims, np.arange(len(axes.target))
    claimed, edited = claims[rows, axes.target], effects.edited
    moved = np.abs(edited) >= effects.epsilon[:, None]
    tested, names = ~np.isnan(edited), claimed != 0
    opposite = np.sign(claimed) != np.sign(edited)
    kinds = {
        "unclaimed": moved & ~names,
        "wrong_sign": moved & names & opposite,
        "no_effect": ~moved & names,
        "right": moved & names & ~opposite,
        "unused": ~moved & ~names,
    }
    causes = outcomes.known.causes
    known = None if causes is None else np.array([causes.clips[one].contributions for one in outcomes.clip_ids])
    patterns = [_pattern(claims[:, :, number]) for number in range(len(vocabulary))]
    table = []
    for number, cue in enumerate(vocabulary):
        used = tested[:, number]
        reacting = effects.edits[used & moved[:, number], :, number]
        alike = np.abs(np.array(patterns) @ _pattern(reacting))
        clear = min(reacting.shape) >= FEWEST and alike[number] < ALIKE
        table.append(
            CueNumbers(
                cue=cue,
                clips={key: int(mask[used, number].sum()) for key, mask in kinds.items()},
                claim=float(np.abs(claimed[used, number]).mean()) if used.any() else None,
                effect=float(np.abs(edited[used, number]).mean()) if used.any() else None,
                moved_like=tuple(vocabulary[best] for best in np.argsort(-alike) if clear and alike[best] >= ALIKE),
                with_causes=(
                    correlation(claims[:, :, number].ravel(), known[:, :, number].ravel())
                    if known is not None and claims[:, :, number].any()
                    else None
                ),
            )
        )
    return tuple(sorted(table, key=lambda numbers: -(numbers.effect or 0.0) * numbers.tested))


def _pattern(values: Array) -> Array:
    """Return the direction (k,) of length 1 in which n rows of k targets lie most; 0 without any value."""
    if not values.any():
        return np.zeros(values.shape[1])
    return np.asarray(np.linalg.svd(values, full_matrices=False)[2][0])


def cue_cells(numbers: CueNumbers) -> tuple[str, ...]:
    """Write one row of the table, in the columns of ``TITLES``."""
    verdict, todo = VERDICTS[numbers.verdict]
    return (
        numbers.cue.replace("_", " "),
        str(numbers.tested),
        verdict,
        str(numbers.clips.get(numbers.verdict, 0)),
        *("–" if size is None else f"{size:.4f}" for size in (numbers.claim, numbers.effect)),
        " or ".join(cue.replace("_", " ") for cue in numbers.moved_like) or "–",
        "–" if numbers.with_causes is None else f"{numbers.with_causes:.2f}",
        todo,
    )


def unclaimed(table: Iterable[CueNumbers]) -> str:
    """Name the cues that moved the prediction unclaimed, with the clips; an empty text without any."""
    cues = [(numbers.cue.replace("_", " "), numbers.clips["unclaimed"]) for numbers in table]
    return ", ".join(f"{cue} ({clips})" for cue, clips in sorted(cues, key=lambda pair: -pair[1]) if clips)
