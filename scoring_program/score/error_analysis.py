"""Where explanations lose points, and whether right predictions have right reasons."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.table import ClipAxes, cause_agreement
from score.order import agreement, yardstick
from score.read.answers import Explanation
from score.read.outcomes import Outcomes
from score.settings import Settings

GROUNDED = 0.5
"""Agreement of claims with known causes from which they count as grounded: halfway from chance (0) to exact claims (1).

All exact claims pass, no inverted ones, and about one in six random ones.
"""


@dataclass(frozen=True)
class RightReasons:
    """How many clips are predicted right or wrong, with claims that are grounded or not."""

    right_grounded: int
    right_ungrounded: int
    wrong_grounded: int
    wrong_ungrounded: int
    """Wrong prediction, ungrounded claims; includes failed clips."""

    @property
    def clips(self) -> int:
        """Number of clips."""
        return self.right_grounded + self.right_ungrounded + self.wrong_grounded + self.wrong_ungrounded


TITLES = {
    "right_grounded": "right, grounded",
    "right_ungrounded": "right, not grounded",
    "wrong_grounded": "wrong, grounded",
    "wrong_ungrounded": "neither",
}
"""Words for each count."""


def right_reasons(outcomes: Outcomes, axes: ClipAxes, settings: Settings) -> RightReasons | None:
    """Count the clips whose main target has known causes.

    `axes`: their axes; used are the errors, and the claims about the main target. `settings`: the main target, and the
    gate below which a prediction is right: that of the axis of known causes. Returns None if the phase has no known
    causes, or none of the main target.
    """
    main = settings.names.index(settings.main_target)
    target = np.full(len(axes.target), main)
    sums = cause_agreement(outcomes, axes.readings.claims, target, settings)["cue"]
    known = sums[:, 1] > 0
    if not known.any():
        return None
    right = axes.table.error[known, main] < settings.explanation_score.gate
    grounded = agreement(sums[known]) >= GROUNDED
    return RightReasons(
        right_grounded=int((right & grounded).sum()),
        right_ungrounded=int((right & ~grounded).sum()),
        wrong_grounded=int((~right & grounded).sum()),
        wrong_ungrounded=int((~right & ~grounded).sum()),
    )


Share = float | None
"""In [0, 1]; None if there are no clips or claims to count."""


@dataclass(frozen=True)
class Shortfalls:
    """Shares of the clips with a prediction, unless stated otherwise."""

    no_space: Share
    """Without a valid map."""
    no_time: Share
    """Without valid seconds."""
    no_claims: Share
    """Without any claim in evidence or text."""
    space_reversed: Share
    """Of the clips whose map was tested: it ranks what changed the prediction no higher than the rest."""
    space_usual: Share
    """Of these clips: one order for all clips agrees as well with the effects."""
    time_reversed: Share
    """As ``space_reversed``, in time."""
    time_usual: Share
    """As ``space_usual``, in time."""
    wrong_sign: Share
    """Of the tested claims: the prediction moved the other way."""
    no_effect: Share
    """Of the tested claims: the prediction did not move."""
    silent: Share
    """Of the edits that moved a prediction: there is no claim about the cue."""
    invalid_text: Share
    """Without a valid text."""
    contradicting: Share
    """Of the valid texts: they state no level of a target, or one that contradicts the prediction."""
    disagreeing: Share
    """Of the valid texts: their claims differ from the largest submitted ones."""
    unstable: Share
    """Claims that change when the clip is jittered a little."""
    between: Share
    """Mean distance of the claims to those of other clips; 0 means the same claims everywhere."""


def find_shortfalls(explanations: Sequence[Explanation], axes: ClipAxes, predicted: NDArray[np.bool_]) -> Shortfalls:
    """Gather the shares of a run.

    `predicted`: (n,) whether a clip has a valid prediction.
    """
    effects, text, rows = axes.effects, axes.text, np.arange(len(predicted))
    claimed = axes.readings.claims[rows, axes.target]
    edited = effects.edited
    moved = np.abs(np.nan_to_num(edited)) >= effects.epsilon[:, None]
    tried = ~np.isnan(edited) & (claimed != 0)
    valid = text.valid & predicted
    return Shortfalls(
        no_space=_share([one.space is None for one in explanations], predicted),
        no_time=_share([one.time is None for one in explanations], predicted),
        no_claims=_share(~(axes.readings.claims != 0).any(axis=(1, 2)), predicted),
        space_reversed=_not_above(axes.table.faithfulness_space, always=False),
        space_usual=_not_above(axes.table.faithfulness_space, always=True),
        time_reversed=_not_above(axes.table.faithfulness_time, always=False),
        time_usual=_not_above(axes.table.faithfulness_time, always=True),
        wrong_sign=_share(moved & (np.sign(claimed) != np.sign(np.nan_to_num(edited))), tried),
        no_effect=_share(~moved, tried),
        silent=_share(claimed == 0, ~np.isnan(edited) & moved),
        invalid_text=_share(~text.valid, predicted),
        contradicting=_share(~text.consistent, valid),
        disagreeing=_share(axes.readings.agreement < 1, valid),
        unstable=_mean(text.within),
        between=_mean(text.between),
    )


def _share(which: object, of: NDArray[np.bool_]) -> Share:
    chosen = np.asarray(which, dtype=bool)[of]
    return float(chosen.mean()) if chosen.size else None


def _mean(values: NDArray[np.float64]) -> Share:
    found = values[~np.isnan(values)]
    return float(found.mean()) if found.size else None


def _not_above(sums: NDArray[np.float64], *, always: bool) -> Share:
    least = yardstick(sums.sum(axis=0, keepdims=True))[0] if always else 0.0
    return _share(agreement(sums) <= least, sums[:, 2] > 0)
