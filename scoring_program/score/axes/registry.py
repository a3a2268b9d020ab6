"""The axes of the total, in the order of their columns: whatever is shown or said of an axis comes from here."""

from score.axes.axis import Axis
from score.axes.cue_claims import CUE_CLAIMS
from score.axes.faithfulness import SPACE, TIME
from score.axes.known_causes import KNOWN_CAUSES
from score.axes.text import TEXT
from score.settings import AXES, ExplanationScore

REGISTRY: dict[str, Axis] = {axis.key: axis for axis in (SPACE, TIME, CUE_CLAIMS, KNOWN_CAUSES, TEXT)}
LABEL_FREE = tuple(axis for axis in REGISTRY.values() if not axis.of_causes)
"""Axes that judge a clip without its label."""
OF_CAUSES = frozenset(key for key, axis in REGISTRY.items() if axis.of_causes)
"""Axes that a phase without known causes leaves out."""


def axis_weights(score: ExplanationScore, left_out: frozenset[str]) -> dict[str, float]:
    """Return the weight of each axis that is not left out; their sum is 1, or 0."""
    weights = {key: float(getattr(score.weights, key)) for key in AXES if key not in left_out}
    whole = sum(weights.values()) or 1.0
    return {key: weight / whole for key, weight in weights.items()}
