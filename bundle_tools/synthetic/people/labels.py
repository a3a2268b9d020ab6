"""The hidden rule from cues to labels: logit-linear, with a few interactions and a little noise.

``logit(y_j) = b_j + sum_k w_jk (u_k - 0.5) + sum_(k,l) v_jkl (u_k - 0.5)(u_l - 0.5) + noise``, with u the intensities
of the causal cues. The form is public; a phase's weights come from its seed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cues import CAUSAL, NEUTRAL, Cues
from bundle_tools.synthetic.seeds import stream

MAIN_TARGET = "interview"
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")

_INTERCEPTS = (-0.08, 0.18, 0.08, 0.05, 0.20, 0.02)

# Rows: targets. Columns: smile, gaze, motion, posture, lighting, framing, speech_rate, words.
_WEIGHTS = (
    (1.30, 0.30, 1.30, 0.10, 0.30, 0.50, 0.90, 0.20),
    (1.40, 0.50, -0.30, 0.00, 0.00, -0.50, -0.40, 1.20),
    (-0.20, 1.10, -0.70, 1.30, 0.50, 0.00, -0.50, 0.70),
    (0.50, 0.90, -1.10, 0.80, 0.30, 0.30, -0.80, 0.60),
    (0.50, 0.30, 0.80, -0.30, 0.90, -0.40, 0.60, 1.00),
    (0.90, 1.00, 0.40, 0.90, 0.60, 0.30, -0.30, 0.90),
)

# (target, one cue, other cue, weight). A smile in good light counts more. For agreeableness, light alone has no effect:
# it is a suppressor, which only changes how much the smile counts.
_PAIRS = (
    ("extraversion", "smile", "motion", 0.8),
    ("agreeableness", "smile", "lighting", 1.2),
    ("conscientiousness", "gaze", "posture", 0.6),
    ("emotional_stability", "motion", "speech_rate", -0.8),
    ("openness", "lighting", "words", 0.6),
    ("interview", "smile", "lighting", 0.8),
    ("interview", "gaze", "words", 0.5),
)

_NOISE = 0.05
"""Standard deviation of the noise, on the logit scale: about 0.012 on the label's."""

_RULE_SPREAD = {"training": 0.0, "practice": 0.0, "final": 0.08}
"""Relative standard deviation of a phase's weights around the tables above: the final rule is close, not equal."""


@dataclass(frozen=True)
class LabelRule:
    """The parameters of one phase's rule."""

    intercepts: tuple[float, ...]
    """b_j, one per target, on the logit scale."""
    weights: tuple[tuple[float, ...], ...]
    """w_jk, one row per target, one column per causal cue."""
    pairs: tuple[tuple[str, str, str, float], ...]
    """(target, cue, cue, v): the interactions."""

    def logits(self, causal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the noiseless logits, shape (..., 6), of intensities of the causal cues, shape (..., 8)."""
        centred = causal - NEUTRAL
        logits: NDArray[np.float64] = np.array(self.intercepts) + centred @ np.array(self.weights).T
        for target, one, other, weight in self.pairs:
            product = centred[..., CAUSAL.index(one)] * centred[..., CAUSAL.index(other)]
            logits[..., TARGETS.index(target)] += weight * product
        return logits

    def labels(self, cues: Cues, noise: np.random.Generator) -> dict[str, float]:
        """Return every target's label in (0, 1), rounded to six decimals."""
        noisy = self.logits(cues.causal()) + _NOISE * noise.standard_normal(len(TARGETS))
        return {name: round(float(1 / (1 + np.exp(-z))), 6) for name, z in zip(TARGETS, noisy, strict=True)}


def rule_of(phase: str, seed: int) -> LabelRule:
    """Return the rule of a phase: the training set and the practice phase share one, the final phase has its own."""
    if phase not in _RULE_SPREAD:
        raise ValueError(f"unknown phase {phase!r}: expected one of {', '.join(_RULE_SPREAD)}")
    random = stream(seed, "rule", phase)
    factors = 1 + _RULE_SPREAD[phase] * random.standard_normal((len(TARGETS), len(CAUSAL)))
    weights = np.array(_WEIGHTS) * factors
    return LabelRule(
        intercepts=_INTERCEPTS,
        weights=tuple(tuple(float(w) for w in row) for row in weights),
        pairs=_PAIRS,
    )
