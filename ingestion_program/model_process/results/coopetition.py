"""The file format of the 2017 coopetition: two pickles written by Python 2.

Predictions are a dict of targets, each a dict of clips. Explanations are a dict of clips, each a text and a picture or
None. The rules asked for RGB, but many pictures are BGR, as OpenCV reads them.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from model_process.results.content import Content, Unreadable, read_numbers, readable
from model_process.results.pickles import PickledArray, read_pickle

PREDICTIONS = "a pickle of {target: {clip: number}}"
EXPLANATIONS = "a pickle of {clip: (text, picture or None)}"
METADATA = "metadata.txt"
LONGEST = 64 << 10
ORDER = re.compile(r"^\s*pictures\s*[:=]\s*(rgb|bgr)\s*$", re.IGNORECASE | re.MULTILINE)


def read_coopetition(predictions: Path, explanations: Path | None) -> Content:
    """Open both pickles; pictures become arrays when they are needed.

    Raises Unreadable when a file is not a pickle of plain data, or has another structure.
    """
    tables = _open(predictions, PREDICTIONS)
    for target, table in tables.items():
        if not isinstance(table, dict):
            raise Unreadable(predictions.name, f"{type(table).__name__} for {ascii(target)[:60]}", PREDICTIONS)
    entries = None if explanations is None else _open(explanations, EXPLANATIONS)
    order = _stated_order(predictions.parent / METADATA)
    oddities = []
    if read_numbers(tables):
        oddities.append("numbers_as_text")
    if order is None and entries and any(_parts(entry)[1] is not None for entry in entries.values()):
        oddities.append("picture_order")
    return Content(tables, entries, partial(_explain, bgr=order == "bgr"), tuple(oddities))


def _open(path: Path, expected: str) -> dict[str, Any]:
    with readable(path.name, expected):
        content = read_pickle(path)
    if not isinstance(content, dict):
        raise Unreadable(path.name, type(content).__name__, expected)
    return content


def _stated_order(path: Path) -> str | None:
    """Return `rgb` or `bgr` if a line such as `pictures: bgr` says so."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        match = ORDER.search(file.read(LONGEST).decode("utf-8", "replace"))
    return match[1].lower() if match else None


def _parts(entry: object) -> tuple[Any, Any]:
    """Return text and picture: entries of 2017 are pairs, those of the sample without pictures only a text."""
    parts = entry if isinstance(entry, tuple | list) else (entry,)
    return (*parts, None, None)[:2]


def _explain(entry: object, *, bgr: bool) -> dict[str, Any]:
    text, image = (part.read() if isinstance(part, PickledArray) else part for part in _parts(entry))
    if bgr and isinstance(image, np.ndarray) and image.shape[2:] == (3,):
        image = image[:, :, ::-1]
    return {"text": text, "image": image}
