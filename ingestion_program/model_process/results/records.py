"""Results submitted in this challenge's own format: predictions.csv, explanations.jsonl and images/."""

import contextlib
import csv
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model_process.results.content import Content, Unreadable, read_numbers, readable

# Limits decoding, since a small file can hold a huge picture. OpenCV reads the variable only when it is loaded.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(4 << 20))
import cv2

LARGEST_PICTURE = 8 << 20
PREDICTIONS = "clip_id,<target>,… and a row of numbers per clip"
EXPLANATIONS = 'a line {"clip_id": …, "text": …, "image": …, "evidence": …} for each clip'
PICTURE = f"a JPEG of at most {LARGEST_PICTURE >> 20} MB and 4 million pixels"
IMAGE = re.compile(r"images/[A-Za-z0-9][A-Za-z0-9_.-]{0,80}\.jpg")


def read_records(predictions: Path, explanations: Path | None) -> Content:
    """Open the records.

    Raises Unreadable when a file does not follow docs/output_format.md.
    """
    lines = None if explanations is None else _read_lines(explanations)
    folder = predictions.parent
    return Content(_read_table(predictions), lines, lambda line: _explain(_parse(line), folder))


def _read_table(path: Path) -> dict[str, Any]:
    """Return the values of all clips by target."""
    with readable(path.name, PREDICTIONS), path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    if header[:1] != ["clip_id"] or len(set(header)) < len(header):
        raise Unreadable(path.name, f"the header {','.join(header)[:100]}", PREDICTIONS)
    clips: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header) or row[0] in clips:
            found = "a wrong number of cells, or a duplicate clip"
            raise Unreadable(f"{path.name} row {number}", found, PREDICTIONS)
        clips[row[0]] = row[1:]
    tables = {target: {clip: row[at] for clip, row in clips.items()} for at, target in enumerate(header[1:])}
    read_numbers(tables)
    return tables


def _read_lines(path: Path) -> dict[str, bytes]:
    """Return each clip's record, unparsed: parsed records would take many times the memory."""
    lines: dict[str, bytes] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            with readable(f"{path.name} line {number}", EXPLANATIONS):
                clip_id = _parse(line)["clip_id"]
                if not isinstance(clip_id, str) or clip_id in lines:
                    found = "a clip_id that is not a text, or a duplicate one"
                    raise Unreadable(f"{path.name} line {number}", found, EXPLANATIONS)
                lines[clip_id] = line
    return lines


def _parse(line: bytes) -> Any:  # noqa: ANN401 - JSON holds anything
    return json.loads(line, parse_constant=lambda _: math.nan)


def _explain(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record as a model would have returned it."""
    image, evidence = record.get("image"), record.get("evidence")
    explanation = {key: value for key, value in record.items() if key != "clip_id"}
    if isinstance(image, str) and IMAGE.fullmatch(image) and _is_regular(folder / image):
        explanation["image"] = read_picture(folder / image)
    if isinstance(evidence, dict):
        explanation["evidence"] = {key: _weights(part) for key, part in evidence.items()}
    return explanation


def _weights(part: object) -> object:
    return part["weights"] if isinstance(part, dict) and "weights" in part else part


def read_picture(path: Path) -> npt.NDArray[np.uint8]:
    """Return RGB pixels of shape (height, width, 3).

    Raises Unreadable when the file is not a JPEG, or too large.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST_PICTURE + 1)
    pixels = None
    if data.startswith(b"\xff\xd8") and len(data) <= LARGEST_PICTURE:
        with contextlib.suppress(cv2.error):
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise Unreadable(path.name, f"{len(data)} bytes that cannot be decoded, or too many pixels", PICTURE)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)


def _is_regular(path: Path) -> bool:
    """Whether this is a regular file in a real folder: neither may be a link."""
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
