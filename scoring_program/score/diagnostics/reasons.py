"""Right for the right reason: whether predictions are near the label and claims agree with its causes. Not scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from score.axes.table import ClipAxes, cause_agreement
from score.read.outcomes import Outcomes
from score.settings import Settings

GROUNDED = 0.5
"""Agreement of claims with known causes, half of the way from chance (0) to exact claims (1), that counts as grounded.

Of the claims of an additive model about 24 clips all pass. With noise of half their spread 92 % do, of one spread 63 %,
of two 34 %; the average clip's 17 %, random ones about the right cues 10 %, about all cues 2 %, inverted ones and one
cue for all clips none. Asking instead whether the largest claim is a main cause with its sign would let pass 42 % of
"gaze, raised" for every clip, and 18 % to 30 % of random claims.
"""


@dataclass(frozen=True)
class RightReasons:
    """How many clips are predicted right or wrong, with claims that are grounded or not."""

    right_grounded: int
    """Right, and for a true reason."""
    right_ungrounded: int
    """Right, but no given reason is true."""
    wrong_grounded: int
    """True reasons, and yet a wrong number."""
    wrong_ungrounded: int
    """Neither; a failed clip is one of these."""

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

    Parameters
    ----------
    outcomes
        Outcomes of the n clips that count.
    axes
        Their axes; the claims are used, those about the main target on every clip, and the errors.
    settings
        The main target, and the gate below which a prediction is right: that of the axis of known causes.

    Returns
    -------
    RightReasons or None
        None where the phase has no known causes, or no clip has any of the main target.
    """
    main = settings.names.index(settings.main_target)
    target = np.full(len(axes.target), main)
    values, defined = cause_agreement(outcomes, axes.readings.claims, target, settings.explanation.vocabulary)
    known = defined[:, 0] > 0
    if not known.any():
        return None
    right = axes.table.error[known, main] < settings.explanation.gate
    grounded = values[known, 0] >= GROUNDED
    return RightReasons(
        right_grounded=int((right & grounded).sum()),
        right_ungrounded=int((right & ~grounded).sum()),
        wrong_grounded=int((~right & grounded).sum()),
        wrong_ungrounded=int((~right & ~grounded).sum()),
    )
