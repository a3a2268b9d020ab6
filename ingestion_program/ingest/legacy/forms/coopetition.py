"""The files of the 2017 coopetition: two pickles, as Python 2 wrote them.

Predictions are a dict of targets, each a dict of clips; explanations a dict of clips, each a text and a picture or
None.
"""

from pathlib import Path
from typing import Any

from ingest.legacy.forms.answers import Answers, Unreadable
from ingest.legacy.pickles import PickleRefused, Stored, StoredArray, open_pickle
from ingest.legacy.pickles.source import OldString

PREDICTIONS = "a pickle of {target: {clip: number}}"
EXPLANATIONS = "a pickle of {clip: (text, picture or None)}"


def read_coopetition(predictions: Path, explanations: Path | None) -> Answers:
    """Open both pickles; pictures stay in the file until they are asked for.

    Raises
    ------
    Unreadable
        When one is no pickle of data, or holds something else.
    """
    numbers = _open(predictions, PREDICTIONS)
    for target, table in numbers.items():
        if not isinstance(table, dict):
            raise Unreadable(predictions.name, f"{type(table).__name__} for {ascii(target)[:60]}", PREDICTIONS)
    texts = None if explanations is None else _open(explanations, EXPLANATIONS)
    return Answers(numbers, texts, _explain)


def _open(path: Path, expected: str) -> dict[str, Any]:
    try:
        content = open_pickle(path)
    except (PickleRefused, OSError, MemoryError) as error:
        found = str(error) if isinstance(error, PickleRefused) else type(error).__name__
        raise Unreadable(path.name, found, expected) from None
    if not isinstance(content, dict):
        raise Unreadable(path.name, type(content).__name__, expected)
    return content


def _explain(value: object) -> dict[str, Any]:
    """Return text and picture: a pair in 2017, a text alone in the sample without pictures."""
    parts = value if isinstance(value, tuple | list) else (value,)
    text, image = (*parts, None, None)[:2]
    return {"text": _text(text), "image": image.read() if isinstance(image, StoredArray) else image}


def _text(value: object) -> object:
    if isinstance(value, Stored):
        value = value.read()
    return value.text() if isinstance(value, OldString) else value
