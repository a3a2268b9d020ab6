"""How explanations turn into a score: coverage, and the total.

The first version of the total stands here alone, so that measured axes can take its place without touching its users.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from score.explanation_record import Explanation
from score.settings import CoverageWeights


def clip_coverage(explanation: Explanation, weights: CoverageWeights) -> float:
    """How complete one explanation is: ``text_ok * (w_text + w_image * image_ok + w_evidence * evidence_ok)``.

    Returns
    -------
    float
        In [0, 1]; 0 without a valid text, whatever else is there.
    """
    if not explanation.text_ok:
        return 0.0
    image = weights.image * (explanation.image is not None)
    return min(1.0, weights.text + image + weights.evidence * explanation.evidence_ok)


def explanation_total(coverage: NDArray[np.float64], skill: NDArray[np.float64]) -> NDArray[np.float64]:
    """Combine coverage and skill: ``100 * coverage * max(0, skill)``.

    Skill is a factor because a complete explanation of a worthless prediction explains nothing.

    Parameters
    ----------
    coverage
        In [0, 1].
    skill
        In [-1, 1], of the same shape.

    Returns
    -------
    NDArray
        In [0, 100].
    """
    return 100 * coverage * np.maximum(0, skill)
