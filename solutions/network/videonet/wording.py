"""Put the network's answer into words."""

import numpy as np

from .network import TARGETS, NetworkOutput

# How a cue looks when there is less and when there is more of it than usual.
_STATES = (
    ("mouth corners that hang", "a smile"),
    ("a gaze that wanders off", "a gaze that stays on the camera"),
    ("little motion", "lively gestures"),
    ("a tilted, sunken posture", "an upright posture"),
    ("dim lighting", "bright lighting"),
    ("distant framing", "close framing"),
    ("a slow speech rate", "a fast speech rate"),
    ("gloomy words", "bright words"),
)
_SMALL = 0.012
"""Smaller effects are not mentioned."""


def describe(answer: NetworkOutput) -> str:
    """Return the text: the interview score and the two others that the cues moved most, each with its causes."""
    effects = answer.scores - answer.without
    main = TARGETS.index("interview")
    others = [column for column in np.argsort(-np.abs(effects).sum(axis=0)) if column != main][:2]
    sentences = []
    for column, most in ((main, 3), *((int(other), 2) for other in others)):
        score = answer.scores[column]
        level = "low" if score < 0.45 else "high" if score > 0.55 else "medium"
        name = TARGETS[column].replace("_", " ")
        sentences.append(f"The {name} score is {level} ({score:.2f}). {_causes(effects[:, column], answer, most)}")
    return " ".join(sentences)


def _causes(effects: np.ndarray, answer: NetworkOutput, most: int) -> str:
    named = [row for row in np.argsort(-np.abs(effects)) if abs(effects[row]) >= _SMALL][:most]
    parts = []
    for verb, sign in (("raised", 1), ("lowered", -1)):
        states = [_STATES[row][int(answer.amounts[row] > 0)] for row in named if effects[row] * sign > 0]
        if states:
            parts.append(f"{' and '.join(filter(None, (', '.join(states[:-1]), states[-1])))} {verb} it")
    sentence = "; ".join(parts) or "nothing stands out in this clip: no cue moved it by much"
    return sentence[0].upper() + sentence[1:] + "."
