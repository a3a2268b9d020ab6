"""The axes of the total, in the order of their columns: whatever is shown or said of an axis comes from here."""

from score.axes.axis import Axis
from score.axes.cue_claims import CUE_CLAIMS
from score.axes.faithfulness import SPACE, TIME
from score.axes.known_causes import KNOWN_CAUSES
from score.axes.text import TEXT

REGISTRY: dict[str, Axis] = {axis.key: axis for axis in (SPACE, TIME, CUE_CLAIMS, KNOWN_CAUSES, TEXT)}
LABEL_FREE = tuple(axis for axis in REGISTRY.values() if not axis.of_causes)
"""Axes that judge a clip without its label."""
