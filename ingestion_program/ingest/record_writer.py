"""The record files of a run: those of one clip are on disk before the next clip starts."""

import csv
import io
import json
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from ingest.errors import Problem
from ingest.model import CheckedExplanation
from ingest.record import append, write_file
from ingest.settings import Target

PROBES = "probes.jsonl"
"""The file of the second pass."""
REPEATS = "repeats.jsonl"
"""The file of clips that were asked again as in the first pass."""
PATIENCE_S = 1.0
FLUSHED_S = 1.0
"""Calls of the second pass are flushed to disk this often; a quick model answers hundreds a second."""


class RecordWriter:
    """The files of one run."""

    def __init__(self, folder: Path, targets: tuple[Target, ...]) -> None:
        self._folder = folder
        self._names = [target.name for target in targets]
        self._recorded: set[str] = set()
        self._writing = Lock()
        self._flushed_s = 0.0
        (folder / "images").mkdir()
        self._append("predictions.csv", _csv_line(["clip_id", *self._names]))
        self._append("explanations.jsonl", "")
        self._append("clips.jsonl", "")

    def add_prediction(self, clip_id: str, prediction: dict[str, float], explanation: CheckedExplanation) -> None:
        """Record the answers to one clip; the prediction comes last, so it never appears without its explanation."""
        with self._writing:
            image = None
            if explanation.image is not None:
                image = f"images/{clip_id}.jpg"
                write_file(self._folder / image, explanation.image)
            record = {
                "clip_id": clip_id,
                "text": explanation.text,
                "image": image,
                "evidence": explanation.evidence,
            }
            self._append("explanations.jsonl", _json_line(record))
            self._append("predictions.csv", _csv_line([clip_id, *(repr(prediction[name]) for name in self._names)]))

    def add_clip(self, clip_id: str, status: str, seconds: dict[str, float], problems: list[Problem]) -> None:
        """Record how one clip went; `seconds` holds the duration of each call that was made."""
        with self._writing:
            self._add_clip(clip_id, status, seconds, problems)

    def begin(self, name: str) -> None:
        """Create the empty file of the second pass, or of the repeats."""
        with self._writing:
            self._append(name, "")

    def add_repeat(
        self, clip_id: str, prediction: dict[str, float] | None, explanation: CheckedExplanation | None
    ) -> None:
        """Record what was answered to a clip that was asked again; None is an invalid answer."""
        shown = None if explanation is None else explanation.record()
        with self._writing:
            self._append(REPEATS, _json_line({"clip_id": clip_id, "prediction": prediction, "explanation": shown}))

    def add_probe(self, record: dict[str, Any]) -> None:
        """Record one call of the second pass."""
        with self._writing:
            self._append(PROBES, _json_line(record))

    def cut_off(self, clip_ids: Sequence[str]) -> int:
        """Stop all writing, record the clips that were not reached, and return how many.

        The watchdog calls this; it does not wait for a thread that hangs while writing.
        """
        self._writing.acquire(timeout=PATIENCE_S)
        left = [clip_id for clip_id in clip_ids if clip_id not in self._recorded]
        for clip_id in left:
            self._add_clip(clip_id, "not_reached", {}, [])
        return len(left)

    def _add_clip(self, clip_id: str, status: str, seconds: dict[str, float], problems: list[Problem]) -> None:
        record = {
            "clip_id": clip_id,
            "status": status,
            "predict_s": round(seconds.get("predict", 0.0), 4),
            "explain_s": round(seconds.get("explain", 0.0), 4),
            "problems": [problem.record() for problem in problems],
        }
        self._append("clips.jsonl", _json_line(record))
        self._recorded.add(clip_id)

    def _append(self, name: str, text: str) -> None:
        now_s = time.monotonic()
        flush = name != PROBES or now_s - self._flushed_s > FLUSHED_S
        append(self._folder / name, text, flush=flush)
        if name == PROBES and flush:
            self._flushed_s = now_s


def _csv_line(row: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(row)
    return buffer.getvalue()


def _json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
