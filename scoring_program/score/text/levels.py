"""The levels that a text states, and whether they match the predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from score.text.claims import Item, Targets, resolved
from score.text.phrases import Vocabulary

Level = Literal["low", "medium", "high"]
BANDS: Mapping[str, tuple[float, float]] = {"low": (0.0, 0.45), "medium": (0.40, 0.60), "high": (0.55, 1.0)}
"""Bands on the unit scale; they overlap, so that values near a threshold fit both."""
_TURNED = {"low": "high", "medium": "medium", "high": "low"}


@dataclass(frozen=True)
class LevelStatement:
    """A statement about how high a target is."""

    target: str
    """One of the vocabulary's targets."""
    level: Level
    """The level in words; a number is not a level."""


def stated_levels(sentences: Iterable[Sequence[Item]], vocabulary: Vocabulary) -> Iterable[LevelStatement]:
    """Yield every statement, except denied and hypothetical ones.

    "The score" and "it" mean the target named last, or else the main target.
    """
    latest: Targets = ((vocabulary.main, 1),)
    for sentence in sentences:
        for place, item in enumerate(sentence):
            if item.kind == "target":
                latest = resolved(item, latest, vocabulary)
            elif item.kind == "level" and not _denied(sentence, place):
                for target, orientation in _meant(sentence, place, latest, vocabulary):
                    level = item.meaning.value if orientation > 0 else _TURNED[item.meaning.value]
                    yield LevelStatement(target, cast(Level, level))


def _meant(sentence: Sequence[Item], place: int, latest: Targets, vocabulary: Vocabulary) -> Targets:
    """Return the targets right behind a level ("low openness"), else those before it, else what "it" means."""
    item, behind = sentence[place], sentence[place + 1 : place + 2]
    if behind and behind[0].kind == "cue" and behind[0].start == item.end:
        return ()  # "low light"
    if behind and behind[0].kind == "target" and behind[0].start - item.end <= 1:
        return resolved(behind[0], latest, vocabulary)
    found: Targets = ()
    for other in reversed(sentence[:place]):
        if other.kind == "target":
            found = (*resolved(other, latest, vocabulary), *found)
        elif other.kind == "effect":  # "raised openness, and agreeableness is high"
            return found[-1:] or latest
        elif other.kind not in ("and", "comma", "pronoun", "indicate") and (
            found or other.kind not in ("colon", "level")
        ):
            break
    it = any(other.kind == "pronoun" for other in sentence[:place])
    return found or (latest if it else ())


def _denied(sentence: Sequence[Item], place: int) -> bool:
    for other in reversed(sentence[:place]):
        if other.kind in ("comma", "contrast", "and"):
            return False
        if other.kind in ("flip", "negation"):
            return True
    return False


def consistent(prediction: Mapping[str, float], statements: Iterable[LevelStatement]) -> bool:
    """Whether a text states at least one level, and every level that it states contains the prediction.

    Parameters
    ----------
    prediction
        Target to value, on the unit scale [0, 1].
    statements
        From `parse_levels`.

    Returns
    -------
    bool
        False without statements. A statement about a target without a prediction counts as a contradiction.

    Examples
    --------
    >>> consistent({"interview": 0.62}, [LevelStatement("interview", "high")])
    True
    """
    judged = [BANDS[item.level][0] <= prediction.get(item.target, -1.0) <= BANDS[item.level][1] for item in statements]
    return bool(judged) and all(judged)
