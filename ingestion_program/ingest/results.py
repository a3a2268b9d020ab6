"""Write the output folder: one record per clip on disk before the next clip starts, a manifest of hashes at the end."""

import csv
import hashlib
import io
import json
import shutil
import stat
from pathlib import Path
from typing import Any

import cv2

from ingest.answers import Explanation, Image
from ingest.errors import Problem
from ingest.settings import Target

FORMAT_VERSION = 1
JPEG_QUALITY = 90


def empty_folder(folder: Path) -> None:
    """Remove everything inside `folder`, never following a link.

    The platform puts a copy of the submission there before ingestion starts: nothing of it may be taken for a result.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.iterdir()):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()


class Results:
    """The files of one run."""

    def __init__(self, folder: Path, targets: tuple[Target, ...]) -> None:
        self._folder = folder
        self._names = [target.name for target in targets]
        (folder / "images").mkdir()
        self._append("predictions.csv", _csv_line(["clip_id", *self._names]))
        self._append("explanations.jsonl", "")
        self._append("clips.jsonl", "")

    def add_prediction(self, clip_id: str, prediction: dict[str, float], explanation: Explanation) -> None:
        """Record the answers to one clip; the prediction comes last, so it never stands without its explanation."""
        image = None
        if explanation.image is not None:
            image = f"images/{clip_id}.jpg"
            _write(self._folder / image, encode_jpeg(explanation.image))
        record = {
            "clip_id": clip_id,
            "text": explanation.text,
            "image": image,
            "evidence": explanation.evidence and explanation.evidence.record(),
        }
        self._append("explanations.jsonl", _json_line(record))
        self._append("predictions.csv", _csv_line([clip_id, *(repr(prediction[name]) for name in self._names)]))

    def add_clip(self, clip_id: str, status: str, seconds: dict[str, float], problems: list[Problem]) -> None:
        """Record how one clip went; `seconds` holds the time of `predict` and `explain` as far as they were called."""
        record = {
            "clip_id": clip_id,
            "status": status,
            "predict_s": round(seconds.get("predict", 0.0), 4),
            "explain_s": round(seconds.get("explain", 0.0), 4),
            "problems": [problem.record() for problem in problems],
        }
        self._append("clips.jsonl", _json_line(record))

    def _append(self, name: str, text: str) -> None:
        with (self._folder / name).open("ab") as file:
            file.write(text.encode())


def write_run(folder: Path, run: dict[str, Any]) -> None:
    """Write `run.json`."""
    _write(folder / "run.json", (json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def write_manifest(folder: Path) -> None:
    """Sweep links and special files away and write `manifest.json` over everything that is left."""
    files = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            content = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        elif not stat.S_ISDIR(mode):
            path.unlink()
    manifest = {"format_version": FORMAT_VERSION, "files": files, "seal": None}
    _write(folder / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())


def write_text(folder: Path, name: str, text: str) -> None:
    """Write a text file."""
    _write(folder / name, text.encode("utf-8", "backslashreplace"))


def encode_jpeg(image: Image) -> bytes:
    """Encode RGB pixels as JPEG."""
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    encoded, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not encoded:
        raise RuntimeError("JPEG encoding failed on a valid image")
    return data.tobytes()


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def _csv_line(row: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(row)
    return buffer.getvalue()


def _json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
