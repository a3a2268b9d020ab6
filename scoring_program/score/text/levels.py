"""The levels that a text states, and whether they match the predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from score.text.grammar.items import Item
from score.text.grammar.referents import Referents
from score.text.grammar.vocabulary import Level, LevelStatement, Vocabulary

BANDS: Mapping[str, tuple[float, float]] = {"low": (0.0, 0.45), "medium": (0.40, 0.60), "high": (0.55, 1.0)}
"""Bands on the unit scale; they overlap, so that values near a threshold fit both."""
_TURNED = {"low": "high", "medium": "medium", "high": "low"}


def stated_levels(sentences: Iterable[Sequence[Item]], vocabulary: Vocabulary) -> Iterable[tuple[str, Level]]:
    """Yield target and level of every statement, except denied and hypothetical ones.

    "The score" and "it" mean the target named last, or else the main target.
    """
    referents = Referents(vocabulary)
    for sentence in sentences:
        for place, item in enumerate(sentence):
            referents.latest = referents.named(sentence[place : place + 1]) or referents.latest
            if item.value in _TURNED and item.kind == "level" and not _denied(sentence, place):
                for target, orientation in referents.resolved(item.bound):
                    yield target, cast(Level, item.value if orientation > 0 else _TURNED[item.value])


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
