"""Put contributions into words."""

from collections.abc import Mapping

# How a cue looks when there is less and when there is more of it than usual.
_STATES: dict[str, tuple[str, str]] = {
    "smile": ("mouth corners that hang", "a smile"),
    "gaze": ("a gaze that wanders off", "a gaze that stays on the camera"),
    "motion": ("little motion", "lively gestures"),
    "posture": ("a tilted, sunken posture", "an upright posture"),
    "lighting": ("dim lighting", "bright lighting"),
    "framing": ("distant framing", "close framing"),
    "speech_rate": ("a slow speech rate", "a fast speech rate"),
    "words": ("gloomy words", "bright words"),
}
_NAMES = {"interview": "interview score", "emotional_stability": "emotional stability score"}
_SMALL = 0.012
"""Smaller contributions are not mentioned."""


def describe(
    prediction: Mapping[str, float],
    contributions: Mapping[str, Mapping[str, float]],
    levels: Mapping[str, float],
    words: list[str],
) -> str:
    """Return the text of an explanation, 20-1200 characters.

    Parameters
    ----------
    prediction
        The scores, each in [0, 1].
    contributions
        By target and cue, in units of the score.
    levels
        Amount of each cue, in standard deviations from the average.
    words
        Evaluative words of the transcript.
    """
    main = "interview" if "interview" in prediction else next(iter(prediction))
    sentences = [_score(main, prediction[main]), _causes(contributions[main], levels, most=3)]
    if words and abs(contributions[main]["words"]) >= _SMALL:
        quoted = ", ".join(f'"{word}"' for word in dict.fromkeys(words))
        sentences.append(f"The words were judged by {quoted}.")
    others = [name for name in prediction if name != main]
    others.sort(key=lambda name: -sum(abs(value) for value in contributions[name].values()))
    for name in others[:2]:
        sentences += [_score(name, prediction[name]), _causes(contributions[name], levels, most=2)]
    return " ".join(sentences)


def _score(target: str, value: float) -> str:
    level = "low" if value < 0.45 else "high" if value > 0.55 else "medium"
    name = _NAMES.get(target, f"{target} score")
    return f"The {name} is {level} ({value:.2f})."


def _causes(contributions: Mapping[str, float], levels: Mapping[str, float], most: int) -> str:
    ranked = sorted(contributions, key=lambda cue: -abs(contributions[cue]))
    named = [cue for cue in ranked if abs(contributions[cue]) >= _SMALL and cue in _STATES][:most]
    parts = []
    for verb, sign in (("raised", 1), ("lowered", -1)):
        states = [_STATES[cue][levels[cue] > 0] for cue in named if contributions[cue] * sign > 0]
        if states:
            parts.append(f"{_listed(states)} {verb} it")
    if not parts:
        return "Nothing stands out in this clip: no cue moved it by much."
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
