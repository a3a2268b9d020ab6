"""How high a text says a prediction is, and whether that is so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from score.language.items import Item
from score.language.lexicon import ALL, FORMER, GENERIC, IT, LATTER, MAIN, TRAITS
from score.language.vocabulary import Level, LevelStatement, Vocabulary

BANDS: Mapping[str, tuple[float, float]] = {"low": (0.0, 0.45), "medium": (0.40, 0.60), "high": (0.55, 1.0)}
"""Bands on the unit scale; they overlap, so that nobody has to argue about a threshold."""
_UNNAMED = frozenset([IT, GENERIC, MAIN, ALL, TRAITS, FORMER, LATTER])
_TURNED = {"low": "high", "medium": "medium", "high": "low"}


def stated_levels(sentences: Iterable[Sequence[Item]], vocabulary: Vocabulary) -> Iterable[tuple[str, Level]]:
    """Yield target and level of every statement; what is denied or only imagined is none.

    "The score" and "it" are the target named last, else the main one.
    """
    latest = vocabulary.main
    for sentence in sentences:
        for place, item in enumerate(sentence):
            if item.kind == "target" and item.value not in _UNNAMED:
                latest = item.value
            if item.kind != "level" or item.value not in _TURNED or _denied(sentence, place):
                continue
            for target, orientation in item.bound:
                level = cast(Level, item.value if orientation > 0 else _TURNED[item.value])
                for name in _names(target, latest, vocabulary):
                    yield name, level


def _names(target: str, latest: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    if target == ALL:
        return vocabulary.targets
    if target == TRAITS:
        return tuple(name for name in vocabulary.targets if name != vocabulary.main)
    if target == MAIN:
        return (vocabulary.main,)
    return (latest,) if target in _UNNAMED else (target,)


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
        False without statements. A target that was not predicted contradicts its statement.

    Examples
    --------
    >>> consistent({"interview": 0.62}, [LevelStatement("interview", "high")])
    True
    """
    judged = [BANDS[item.level][0] <= prediction.get(item.target, -1.0) <= BANDS[item.level][1] for item in statements]
    return bool(judged) and all(judged)
