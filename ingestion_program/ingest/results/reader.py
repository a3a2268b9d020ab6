"""The process that reads submitted results, seen from outside: asked, clip by clip, as if it held a model.

It reads what strangers wrote, so it gets no more trust than a model does.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ingest.errors import Problem, Stage
from ingest.media.clip import ClipSource
from ingest.media.frame_server import FrameServer
from ingest.media.video import ClipFacts
from ingest.model.process import CallFailed, ModelProcess
from ingest.results.files import find_results
from ingest.results.settings import ResultsSettings
from ingest.settings import Task
from model_process.protocol import Message

MEMORY_MB = 1024
"""Private memory of the process: pictures are read one at a time, so this is enough for any number."""
MOST_NAMED = 5
ODDITIES = {
    "numbers_as_text": ("numbers written as text", "numbers", "write floats"),
    "picture_order": (
        "pictures of 2017, taken as RGB; many are BGR, which exchanges red and blue",
        "a stated order of colours",
        "add a line `pictures: rgb` or `pictures: bgr` to metadata.txt",
    ),
}
"""What was found, what is expected, and the fix, by what the process may say of the files as a whole."""


class ResultsReader(ModelProcess):
    """One process that holds the opened files."""

    runs_code = False
    name = "reading process"
    survivor = "entries that can be read"
    faster = "write smaller files"

    def __init__(
        self,
        submission: Path,
        packages: Path | None,
        frames: FrameServer,
        task: Task,
        settings: ResultsSettings,
        names: dict[str, str | None],
    ) -> None:
        """Take the task's settings, and the older name of each of its clips."""
        limits = replace(task.limits, memory_mb=min(MEMORY_MB, task.limits.memory_mb))
        super().__init__(submission, packages, frames, limits, task.isolation)
        (self._files,) = find_results(path.name for path in submission.iterdir())
        self._targets = dict(settings.target_aliases)
        self._results = {**vars(self._files), "clips": names, "targets": self._targets}
        self.explains = self._files.explanations is not None
        self.loaded = f"results instead of code, read from {', '.join(sorted(self._files.names))},"

    def predict(self, clip: ClipSource, facts: ClipFacts, timeout_s: float) -> object:
        """Return what the files say of a clip.

        Raises
        ------
        CallFailed
            When they say nothing, or the process died over it.
        """
        prediction = super().predict(clip, facts, timeout_s)
        if prediction is None:
            expected, fix = (
                "a number for every target of every clip",
                "add the clip; its name must match in every letter",
            )
            raise CallFailed(Problem("result_missing", "predict", "predict", "no such clip", expected, fix))
        return prediction

    def remarks(self) -> list[Problem]:
        """Return warnings about what holds for the files as a whole, as far as the process can be believed."""
        notes: dict[str, Any] = self._notes if isinstance(self._notes, dict) else {}
        warnings = []
        for name in sorted(set(self._targets).intersection(_texts(notes.get("renamed")))):
            target = self._targets[name]
            fix = f"nothing: the values stand for {target} as they are, and none is turned round"
            warnings.append(_warning("target_renamed", f"the name {name}", f"the name {target}", fix))
        if isinstance(unknown := notes.get("unknown"), int) and unknown:
            named = ", ".join(_texts(notes.get("named")))
            found = f"{unknown} names that are no clips of this phase, such as {named}"
            warnings.append(_warning("results_unknown", found, "the clips of this phase", "compare the names"))
        oddities = _texts(notes.get("oddities"))
        warnings += [_warning(code, *words) for code, words in ODDITIES.items() if code in oddities]
        if not self.explains:
            warnings.append(
                _warning("results_unexplained", "no file of explanations", "a text for every clip", "add one")
            )
        return warnings

    def _view(self, clip: ClipSource, facts: ClipFacts) -> dict[str, Any]:
        return {"clip_id": clip.clip_id}

    def _raised(self, message: Message, stage: Stage) -> Problem:
        expected, fix = "a text, and a picture or None", "write this explanation again"
        return Problem("result_unreadable", stage, stage, message.text("found", 300), expected, fix)

    def _end_badly(self, error: Exception, stage: Stage, timeout_s: float) -> Problem:
        ended = super()._end_badly(error, stage, timeout_s)
        if stage == "load":
            where, expected = " or ".join(sorted(self._files.names)), "files that can be read in time and memory"
            return replace(ended, code="results_unreadable", where=where, expected=expected, fix=self.faster)
        fix = "look at what the files hold for this clip"
        return replace(ended, code="result_unreadable", expected="an entry that can be read", fix=fix)


def _texts(value: object) -> list[str]:
    """Return the first texts of a list, in short."""
    return [text[:80] for text in value[:MOST_NAMED] if isinstance(text, str)] if isinstance(value, list) else []


def _warning(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "results", found, expected, fix, severity="warning")
