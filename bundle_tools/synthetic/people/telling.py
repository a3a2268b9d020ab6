"""True sentences about a clip: which cues moved its score, in many wordings."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from bundle_tools.synthetic.people.cues import CAUSAL, NEUTRAL, Cues

# By cue: phrases for little and for much of it, used at the start of a sentence or after "by".
_PHRASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "smile": (
        ("the lack of a smile", "the missing smile", "a sad mouth", "the drooping corners of the mouth"),
        ("a broad smile", "the open smile", "the wide smile", "the smile"),
    ),
    "gaze": (
        ("the averted gaze", "a gaze that wanders off", "the lack of eye contact", "looking away from the camera"),
        ("the steady gaze", "good eye contact", "a gaze into the camera", "looking into the camera"),
    ),
    "motion": (
        ("the lack of gestures", "little motion", "sitting still", "the few gestures"),
        ("lively gestures", "the gestures", "the large gesture", "much motion"),
    ),
    "posture": (
        ("the slouched posture", "a slumped posture", "the tilted shoulders", "slouching"),
        ("the upright posture", "an upright posture", "the level shoulders", "sitting upright"),
    ),
    "lighting": (
        ("the dim lighting", "dim light", "the poor lighting", "the dark picture"),
        ("the bright lighting", "bright light", "the good lighting", "the bright picture"),
    ),
    "framing": (
        ("the distant framing", "a wide framing", "the distance from the camera", "sitting far from the camera"),
        ("the close framing", "a close-up framing", "the closeness to the camera", "sitting close to the camera"),
    ),
    "speech_rate": (
        ("the slow speech", "a slow pace of speech", "slow speech", "speaking slowly"),
        ("the fast speech", "a fast pace of speech", "fast speech", "speaking fast"),
    ),
    "words": (
        ("the gloomy words", "negative words", "the gloomy choice of words", "negative wording"),
        ("the cheerful words", "positive words", "the bright choice of words", "positive wording"),
    ),
}
_RAISED = ("raised", "lifted", "increased", "boosted", "pushed up", "improved")
_LOWERED = ("lowered", "reduced", "decreased", "hurt", "pulled down", "weakened")
_PASSIVE = {1: ("raised", "lifted", "increased", "boosted"), -1: ("lowered", "reduced", "decreased", "weakened")}
_LOW, _HIGH = 0.45, 0.55
"""Labels below are low, labels above high, those between medium."""


def paraphrases(cue: str, *, much: bool, sign: int, score: str) -> list[str]:
    """Return every wording of one statement, each without its full stop.

    `much`: whether there is more of it than neutral. `sign`: 1 if it raised the score, -1 if it lowered it.
    """
    phrases = _PHRASES[cue][much]
    verbs = _RAISED if sign > 0 else _LOWERED
    active = [f"{_capital(phrase)} {verb} {score}" for phrase, verb in product(phrases, verbs)]
    return active + [f"{_capital(score)} was {verb} by {phrase}" for phrase, verb in product(phrases, _PASSIVE[sign])]


def tell(cues: Cues, shares: Mapping[str, float], label: float, score: str, random: np.random.Generator) -> list[str]:
    """Return two true texts about a clip's score, differently worded.

    `label`: the score, in [0, 1].
    """
    level = "low" if label < _LOW else "high" if label > _HIGH else "medium"
    strongest = sorted(CAUSAL, key=lambda cue: -abs(shares[cue]))[:2]
    texts = []
    for _ in range(2):
        sentences = [f"{_capital(score)} is {level}"]
        for cue in strongest:
            sign = 1 if shares[cue] > 0 else -1
            wordings = paraphrases(cue, much=getattr(cues, cue) > NEUTRAL, sign=sign, score=score)
            sentences.append(wordings[random.integers(len(wordings))])
        texts.append(". ".join(sentences) + ".")
    return texts


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
