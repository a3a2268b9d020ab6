"""Where explanations lose points, and whether right predictions have right reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Account, Share
from score.axes.registry import REGISTRY
from score.axes.table import ClipAxes, cause_agreement
from score.order import agreement
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


Shortfalls = Mapping[str, Share]
"""Where explanations lose points: the share of each shortfall of each axis, by its key."""


def find_shortfalls(explanations: Sequence[Explanation], axes: ClipAxes, predicted: NDArray[np.bool_]) -> Shortfalls:
    """Gather the shares of a run; `predicted`: (n,) whether a clip has a valid prediction."""
    account = Account(explanations, axes, predicted)
    return {shortfall.key: shortfall.share(account) for axis in REGISTRY.values() for shortfall in axis.shortfalls}
