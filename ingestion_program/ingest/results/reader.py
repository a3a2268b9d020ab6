"""The process that reads submitted results, seen from outside: it is asked clip by clip, like a model.

It reads untrusted files, so it is confined like a model.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ingest.errors import Problem, Severity, Stage
from ingest.media.clip import ClipSource
from ingest.media.video import ClipFacts
from ingest.model.process import CallFailed, ModelProcess
from ingest.record.codes import CODES
from ingest.results.files import find_results
from ingest.settings import Task
from model_process.protocol import Message

MEMORY_MB = 1024
"""Private memory of the process: 2,000 clips with pictures of 200 x 355 take half of it."""
LONGEST = 600
REMARKS = ("target_renamed", "results_unknown", "numbers_as_text", "results_unexplained", "picture_order")
"""Codes of warnings that the process may give about the files as a whole."""


class ResultsReader(ModelProcess):
    """One process that holds the opened files."""

    runs_code = False
    name = "reading process"
    survivor = "readable entries"
    faster = "write smaller files"

    def __init__(self, submission: Path, packages: Path | None, task: Task, names: dict[str, str | None]) -> None:
        """Take the older name of each of the task's clips."""
        limits = replace(task.limits, memory_mb=min(MEMORY_MB, task.limits.memory_mb))
        super().__init__(submission, packages, limits, task.isolation)
        (self._files,) = find_results(path.name for path in submission.iterdir())
        self._results = {**vars(self._files), "clips": names, "targets": task.target_aliases}
        self.explains = self._files.explanations is not None
        self.loaded = f"results instead of code, read from {', '.join(sorted(self._files.names))},"

    def predict(self, clip: ClipSource, facts: ClipFacts, timeout_s: float) -> object:
        """Return what the files contain for a clip.

        Raises CallFailed when they contain nothing, or the process died.
        """
        prediction = super().predict(clip, facts, timeout_s)
        if prediction is None:
            raise CallFailed(_problem("result_missing", "predict", "predict"))
        return prediction

    def remarks(self) -> list[Problem]:
        """Return warnings about the files as a whole; they cost nothing."""
        notes = self._notes if isinstance(self._notes, dict) else {}
        return [_problem(code, "run", "results", notes[code]) for code in REMARKS if code in notes]

    def _view(self, clip: ClipSource, facts: ClipFacts) -> dict[str, Any]:
        return {"clip_id": clip.clip_id}

    def _raised(self, message: Message, stage: Stage) -> Problem:
        return _problem("result_unreadable", stage, stage, message.body.get("found"))

    def _end_badly(self, error: Exception, stage: Stage, timeout_s: float) -> Problem:
        found = super()._end_badly(error, stage, timeout_s).found
        if stage == "load":
            return _problem("results_unreadable", stage, " or ".join(sorted(self._files.names)), found)
        return _problem("result_unreadable", stage, stage, found)


def _problem(code: str, stage: Stage, where: str, found: object = None) -> Problem:
    """Return a problem in the words of its code; what was found may come from the process."""
    words = CODES[code]
    text = found[:LONGEST] if isinstance(found, str) and found else words.found
    severity: Severity = "warning" if words.kind == "W" else "error"
    return Problem(code, stage, where, text, words.expected, words.fix, severity)
