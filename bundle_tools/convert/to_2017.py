"""Write the files of 2017 from the records of a run: pickles are written here, and never read."""

import csv
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from bundle_tools.convert.names import Names

PROTOCOL = 2
"""What Python 2 reads."""
METADATA = "pictures: rgb\n"


def write_2017(
    run: Path, out: Path, names: Names, *, light: bool, progress: Callable[[int, int], None] | None = None
) -> int:
    """Write `prediction.pkl`, `description.pkl` and `metadata.txt`; return the number of clips.

    All pictures are held in memory until they are written: 0.2 MB each.

    Parameters
    ----------
    run
        Holds `predictions.csv` and `explanations.jsonl`.
    out
        Where to write.
    names
        Of clips and targets; what is not in it keeps its name, clips with `.mp4` behind.
    light
        Leave the pictures out.
    progress
        Told of each clip.
    """
    with (run / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    predictions: dict[str, dict[str, float]] = {}
    for row in rows:
        clip = _older(row.pop("clip_id"), names)
        for target, value in row.items():
            predictions.setdefault(names.targets.get(target, target), {})[clip] = float(value)
    descriptions: dict[str, tuple[str | None, npt.NDArray[np.uint8] | None]] = {}
    lines = (run / "explanations.jsonl").read_text("utf-8").splitlines()
    for done, line in enumerate(lines, 1):
        record = json.loads(line)
        picture = None if light else _picture(run, record)
        descriptions[_older(record["clip_id"], names)] = record["text"], picture
        if progress:
            progress(done, len(lines))
    for name, content in (("prediction.pkl", predictions), ("description.pkl", descriptions)):
        with (out / name).open("wb") as target:
            pickle.dump(content, target, PROTOCOL)
    (out / "metadata.txt").write_text(METADATA, "utf-8")
    return len(rows)


def _older(clip_id: str, names: Names) -> str:
    return names.clips.get(clip_id, f"{clip_id}.mp4")


def _picture(run: Path, record: dict[str, Any]) -> npt.NDArray[np.uint8] | None:
    if record["image"] is None:
        return None
    pixels = cv2.imread(str(run / record["image"]))
    return None if pixels is None else np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
