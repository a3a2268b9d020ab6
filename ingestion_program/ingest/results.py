"""Results that are submitted in place of a model."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ingest.codes import CODES, Stage
from ingest.data import problem, read_rows
from ingest.errors import IngestionError, Problem, Severity
from ingest.media.alteration import ClipSource
from ingest.media.video import ClipFacts
from ingest.model import CallFailed, ModelProcess
from ingest.requests import LONGEST, Raised
from ingest.settings import Task

COLUMNS = ["clip_id", "name"]


def older_names(path: Path | None, clip_ids: list[str]) -> dict[str, str | None]:
    """Return the older name of each clip; None without an entry, or without a list.

    Raises IngestionError with every problem of the list.
    """
    names = dict[str, str | None].fromkeys(clip_ids)
    problems: list[Problem] = []
    lines: dict[str, str] = {}
    for where, (clip_id, name) in [] if path is None else read_rows(path, COLUMNS, problems):
        if clip_id not in names:
            problems.append(problem("clip_unknown", where, clip_id, "a clip of the list", "correct the clip_id"))
        elif name in lines:
            found, expected = f"the name {name[:80]!r}", f"every name once; it is already in {lines[name]}"
            problems.append(problem("clip_twice", where, found, expected, "correct one of the names"))
        else:
            names[clip_id], lines[name] = name, where
    if problems:
        raise IngestionError(problems)
    return names


Form = Literal["2017", "records"]
EXPLANATIONS: dict[Form, str] = {"2017": "description.pkl", "records": "explanations.jsonl"}
PREDICTIONS: dict[str, Form] = {"prediction.pkl": "2017", "predictions.pkl": "2017", "predictions.csv": "records"}
"""Both names were used in 2017: the plural in the first stage, the singular in the second."""


@dataclass(frozen=True)
class ResultFiles:
    """The result files of a submission."""

    form: Form
    predictions: str
    """Name of the file with the numbers."""
    explanations: str | None
    """Name of the file with the explanations; None if there is none."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the files."""
        return frozenset(filter(None, (self.predictions, self.explanations)))


def find_results(names: Iterable[str]) -> list[ResultFiles]:
    """Return every way to read a submission's top-level files as results; only exactly one can be judged."""
    present = set(names)
    return [
        ResultFiles(form, name, EXPLANATIONS[form] if EXPLANATIONS[form] in present else None)
        for name, form in PREDICTIONS.items()
        if name in present
    ]


MEMORY_MB = 1024
"""Private memory of the process: 2,000 clips with pictures of 200 x 355 take half of it."""
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

    def _raised(self, error: Raised, stage: Stage) -> Problem:
        return _problem("result_unreadable", stage, stage, error.found)

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
