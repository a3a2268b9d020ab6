"""Write the files of 2017 from the records of a run: pickles are written here, and never read."""

import csv
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from bundle_tools.challenge.convert.names import Names, misfits
from bundle_tools.challenge.convert.values import finite
from bundle_tools.errors import BundleError
from score.read.output.manifest import why_unread
from score.report.drawings.picture import LARGEST, jpeg_size

PROTOCOL = 2
"""Pickle protocol that Python 2 reads."""
METADATA = "pictures: rgb\n"
MOST_LINES = 100_000
"""Most lines of a file: ten times the clips of First Impressions."""
LONGEST_QUOTE = 80
MOST_TOLD = 1000


def write_2017(
    run: Path, out: Path, names: Names, *, light: bool, progress: Callable[[int, int], None] | None = None
) -> list[str]:
    """Write `prediction.pkl`, `description.pkl` and `metadata.txt`; return the clips.

    All pictures are held in memory until they are written: 0.2 MB each.

    `run`: holds `predictions.csv` and `explanations.jsonl`.
    `names`: names of clips and targets; others keep their names, clips with `.mp4` appended.
    Raises BundleError with the lines that cannot be read, and every name that does not match; or with the first file
    that a run cannot have written.
    """
    wrong: list[str] = []
    targets, rows = _predictions(run, wrong)
    records = _explanations(run, wrong)
    clips = [*rows, *(record["clip_id"] for record in records)]
    wrong += misfits(names, targets, {clip: _older(clip, names) for clip in clips})
    if wrong:
        more = [f"And {len(wrong) - MOST_TOLD} more."] if len(wrong) > MOST_TOLD else []
        raise BundleError("\n".join([*wrong[:MOST_TOLD], *more]))
    predictions = {
        names.targets.get(target, target): {_older(clip, names): row[at] for clip, row in rows.items()}
        for at, target in enumerate(targets)
    }
    descriptions: dict[str, tuple[str | None, npt.NDArray[np.uint8] | None]] = {}
    for done, record in enumerate(records, 1):
        picture = None if light else _picture(run, record)
        descriptions[_older(record["clip_id"], names)] = record["text"], picture
        if progress:
            progress(done, len(records))
    for name, content in (("prediction.pkl", predictions), ("description.pkl", descriptions)):
        with (out / name).open("wb") as target:
            pickle.dump(content, target, PROTOCOL)
    (out / "metadata.txt").write_text(METADATA, "utf-8")
    return list(rows)


def _predictions(run: Path, wrong: list[str]) -> tuple[list[str], dict[str, list[float]]]:
    """Read the targets, and each clip's values in their order."""
    path = run / "predictions.csv"
    rows: dict[str, list[float]] = {}
    try:
        reader = csv.reader(io.StringIO(_text(run, path.name), newline=""), strict=True)
        header = next(reader, [])
        if header[:1] != ["clip_id"] or len(set(header)) < len(header):
            found = ",".join(header)[:LONGEST_QUOTE]
            wrong.append(f"{path}, line 1: expected clip_id and the targets, each once; found {found}.")
            return [], {}
        for clip, *cells in filter(None, reader):
            where = f"{path}, line {reader.line_num}, clip {clip[:LONGEST_QUOTE]}"
            if clip in rows:
                wrong.append(f"{where}: expected every clip once. Remove one of its lines.")
            try:
                rows[clip] = [finite(cell) for _, cell in zip(header[1:], cells, strict=True)]
            except ValueError:
                found = ",".join(cells)[:LONGEST_QUOTE]
                wrong.append(f"{where}: expected {len(header) - 1} finite numbers; found {found}.")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        wrong.append(f"{path}: expected a table in UTF-8; found {error}.")
        return [], {}
    return header[1:], rows


def _explanations(run: Path, wrong: list[str]) -> list[dict[str, Any]]:
    path = run / "explanations.jsonl"
    records: list[dict[str, Any]] = []
    try:
        lines = _text(run, path.name).split("\n")
    except (OSError, UnicodeDecodeError) as error:
        wrong.append(f"{path}: expected lines of JSON in UTF-8; found {error}.")
        return []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            wrong.append(f"{path}, line {number}: expected JSON; found {error}.")
            continue
        if _fits(record):
            records.append(record)
        else:
            wrong.append(f"{path}, line {number}: expected clip_id, text and image, as words; found {line[:80]}")
    return records


def _fits(record: object) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("clip_id"), str)
        and all(isinstance(record.get(key, 0), str | None) for key in ("text", "image"))
    )


def _older(clip_id: str, names: Names) -> str:
    return names.clips.get(clip_id, f"{clip_id}.mp4")


def _read(run: Path, name: str) -> bytes:
    """Read a file of the run, like scoring, without trusting its content.

    Raises BundleError when it is a link, not a regular file, or larger than any run's.
    """
    if found := why_unread(run, name):
        raise BundleError(f"{run}: {name[:LONGEST_QUOTE]!r}: expected a file of the run, found {found}. Run again.")
    return (run / name).read_bytes()


def _text(run: Path, name: str) -> str:
    data = _read(run, name)
    if (found := max(data.count(b"\n"), data.count(b"\r"))) > MOST_LINES:
        raise BundleError(f"{run / name}: expected at most {MOST_LINES} lines, found {found}. Run again.")
    return data.decode()


def _picture(run: Path, record: dict[str, Any]) -> npt.NDArray[np.uint8] | None:
    if record["image"] is None:
        return None
    data = _read(run, record["image"])
    width, height = jpeg_size(data) or (0, 0)
    if width > LARGEST[0] or height > LARGEST[1]:  # a small file can claim gigabytes
        raise BundleError(f"{run}: {record['image']}: {width} x {height} pixels are more than a run writes. Run again.")
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if width else None
    return None if pixels is None else np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
