"""Write scores.json, with exactly the columns, and scores.txt for CodaLab v1; every file atomically."""

import json
import math
import os
from pathlib import Path

from score.columns import Column
from score.read.strict_json import parse_object

_LARGEST_SCORES = 2**20
_LARGEST_STORED = 1e10  # the leaderboard rejects numbers with eleven digits before the point


def write_atomically(path: Path, text: str) -> None:
    """Write a text atomically: the platform reads while we write, and must see the old file or the whole new one."""
    draft = path.with_name(f".{path.name}.tmp")
    draft.unlink(missing_ok=True)  # left by a killed run; mode "x" below follows no link
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # a full disk leaves no partial file, under any name
        raise


def check_scores(scores: dict[str, float | int], registry: tuple[Column, ...]) -> None:
    """Check that the scores are exactly the columns, each finite and inside its bounds.

    Raises ValueError naming the column, never the value.
    """
    keys = {column.key for column in registry}
    if len(keys) != len(registry) or scores.keys() != keys:
        raise ValueError(f"scores {sorted(scores)} do not match the columns {sorted(keys)}")
    for column in registry:
        value = scores[column.key]
        upper = _LARGEST_STORED if column.maximum is None else column.maximum
        if not math.isfinite(value) or not column.minimum <= value <= upper:
            raise ValueError(f"{column.key} is outside {column.minimum} to {upper}")


def write_scores(folder: Path, scores: dict[str, float | int], registry: tuple[Column, ...]) -> None:
    """Write ``scores.txt`` and then, as the very last file, ``scores.json``, and read it back.

    `registry`: the columns, in leaderboard order. Raises ValueError if the scores are not exactly the columns, each
    finite and inside its bounds. Nothing is written then.
    """
    check_scores(scores, registry)
    ordered = {column.key: scores[column.key] for column in registry}
    text = json.dumps(ordered, indent=2) + "\n"
    if parse_object(text.encode(), _LARGEST_SCORES) != ordered:
        raise ValueError("scores.json would not read back as written")
    write_atomically(folder / "scores.txt", "".join(f"{key}: {value}\n" for key, value in ordered.items()))
    write_atomically(folder / "scores.json", text)
    if parse_object((folder / "scores.json").read_bytes(), _LARGEST_SCORES) != ordered:
        (folder / "scores.json").unlink()  # no scores are better than wrong ones
        raise ValueError("scores.json did not read back as written")
