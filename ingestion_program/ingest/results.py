"""The records of a run: those of one clip are on disk before the next clip starts."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import cv2

from ingest.answers import Explanation, Image
from ingest.errors import Problem
from ingest.folder import write_file
from ingest.settings import Target

JPEG_QUALITY = 90


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
            write_file(self._folder / image, encode_jpeg(explanation.image))
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


def encode_jpeg(image: Image) -> bytes:
    """Encode RGB pixels as JPEG."""
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    encoded, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not encoded:
        raise RuntimeError("JPEG encoding failed on a valid image")
    return data.tobytes()


def _csv_line(row: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(row)
    return buffer.getvalue()


def _json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
