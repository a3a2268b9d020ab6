"""Right for the right reason: whether predictions are near the label and claims agree with its causes. Not scored."""

from dataclasses import dataclass

import numpy as np

from score.axes.table import ClipAxes, cause_agreement
from score.measure.order import agreement
from score.read.outcomes import Outcomes
from score.settings import Settings

GROUNDED = 0.5
"""Agreement of claims with known causes from which they count as grounded: halfway from chance (0) to exact claims (1).

On 24 clips, all claims of an additive model pass. With noise of half their spread 92 % pass, of one spread 63 %, of two
34 %. So do 17 % of the average clip's claims, 10 % of random claims about the right cues and 2 % about all cues, but no
inverted claims, and no single cue claimed for all clips. A test whether the largest claim is a main cause with the
right sign would pass 42 % of "gaze, raised" for every clip, and 18 % to 30 % of random claims.
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
    right = axes.table.error[known, main] < settings.explanation.gate
    grounded = agreement(sums[known]) >= GROUNDED
    return RightReasons(
        right_grounded=int((right & grounded).sum()),
        right_ungrounded=int((right & ~grounded).sum()),
        wrong_grounded=int((~right & grounded).sum()),
        wrong_ungrounded=int((~right & ~grounded).sum()),
    )
