"""A run over submitted results: the same checks and records as for a model, with nothing that runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ingest.clips.footage import check_unchanged
from ingest.errors import Problem
from ingest.legacy.aliases import names_of, read_aliases
from ingest.legacy.colours import as_rgb, stated_order
from ingest.legacy.reader import ReadingFailed, ResultsReader
from ingest.media.video import UnreadableClip, read_facts
from ingest.model.answers import check_explanation, check_prediction
from ingest.model.asking import Asked, check_failed

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.clock import Clock
    from ingest.legacy.files import ResultFiles
    from ingest.log import Log
    from ingest.media.clip import ClipSource
    from ingest.record.feedback import Feedback
    from ingest.record.results import Results
    from ingest.record.tally import ClipStatus, Tally
    from ingest.settings import Task

PROGRESS_LINES = 60
REST = "the remaining clips"


class ResultsRun:
    """One pass over the clips, with answers that lie there already."""

    def __init__(
        self,
        task: Task,
        files: ResultFiles,
        submission: Path,
        packages: Path | None,
        results: Results,
        clock: Clock,
        log: Log,
        tally: Tally,
        feedback: Feedback,
    ) -> None:
        self._task = task
        self._files = files
        self._order = stated_order(submission)
        self._results = results
        self._clock = clock
        self._log = log
        self._tally = tally
        self._feedback = feedback
        self._reader = ResultsReader(submission, packages, files, task.limits, task.isolation)
        self._answers: list[dict[str, float]] = []
        self._renamed: set[str] = set()
        self._pictures = False

    @property
    def model_output(self) -> bytes:
        """The last of what the reading process printed."""
        return self._reader.process.output

    def run(self, clips: list[ClipSource], input_data: Path) -> None:
        """Record what the results say of every clip, as far as the time budget goes."""
        listed = self._task.aliases_file
        aliases = {} if listed is None else read_aliases(input_data / listed, {clip.clip_id for clip in clips})
        started = time.monotonic()
        self._tally.results = True
        try:
            self._reader.start()
            self._tally.begin(self._reader.process)
            self._tally.load_s = time.monotonic() - started
            self._log.line(f"isolation: {self._reader.process.held}")
            self._log.line(f"results instead of code, read from {', '.join(sorted(self._files.names))}")
            self._run_clips(clips, aliases)
            self._tally.judge()
            self._tally.compare(self._answers)
            if self._reader.process.alive:
                self._remark()
        except ReadingFailed as failure:
            self._tally.end("invalid", [failure.problem])
        finally:
            self._reader.stop()
            self._tally.restarts = max(0, self._reader.process.starts - 1)
            self._tally.note(self._reader.process, self._feedback)

    def _run_clips(self, clips: list[ClipSource], aliases: dict[str, str]) -> None:
        step = max(1, -(-len(clips) // PROGRESS_LINES))
        for done, clip in enumerate(clips, 1):
            # Reading again may take as long as at first.
            needed_s = 0.0 if self._reader.process.alive else self._task.limits.load_s
            if self._clock.left_s() <= needed_s:
                found, fix = "the time budget used up", "write smaller files"
                problem = Problem("time_budget", "run", REST, found, "all clips inside the budget", fix)
                self._leave(clips[done - 1 :], "not_reached", problem)
                return
            if not self._reader.process.alive:  # an entry that ends the process costs its clip
                if self._reader.process.starts > self._task.limits.restarts:
                    found, fix = "entries that ended the reading process too often", "look at the first failure"
                    problem = Problem("restarts_used_up", "run", REST, found, "entries that can be read", fix)
                    self._leave(clips[done - 1 :], "failed", problem)
                    return
                try:
                    self._reader.start()
                except ReadingFailed as failure:
                    self._leave(clips[done - 1 :], "failed", failure.problem)
                    return
            self._run_clip(clip, names_of(clip.clip_id, aliases))
            if done % step == 0 or done == len(clips):
                self._log.line(f"clip {done} of {len(clips)}")

    def _leave(self, clips: list[ClipSource], status: ClipStatus, reason: Problem) -> None:
        """Record the clips that are not looked up any more."""
        self._tally.end("partial", [reason])
        for clip in clips:
            self._record(clip, status, 0.0, [])

    def _run_clip(self, clip: ClipSource, names: list[str]) -> None:
        started = time.monotonic()
        asked = Asked()
        try:
            duration_s = read_facts(clip.path).duration_s
        except UnreadableClip as error:
            check_unchanged(clip, named=not self._tally.hidden)
            fix = "replace the file; `bundle check` finds such clips before the upload"
            found, expected = str(error), "a clip that decodes"
            problem = Problem("clip_unreadable", "data", clip.clip_id, found, expected, fix, fault="organiser")
            self._record(clip, "unreadable", 0.0, [problem])
            return
        self._ask(names, duration_s, asked)
        if asked.prediction is not None:
            self._answers.append(asked.prediction)
            self._results.add_prediction(clip.clip_id, asked.prediction, asked.explanation)
        status: ClipStatus = "failed" if asked.prediction is None else "ok"
        self._record(clip, status, time.monotonic() - started, asked.problems)

    def _ask(self, names: list[str], duration_s: float, asked: Asked) -> None:
        """Ask for the answers to one clip and check them as if a model had given them."""
        task = self._task
        try:
            answer = self._reader.ask(names, min(task.limits.call_s, max(1.0, self._clock.left_s())))
        except ReadingFailed as failure:
            asked.problems.append(failure.problem)
            return
        if answer.prediction is None:
            fix = "add the clip; its name must match in every letter"
            expected = "a number for every target of every clip"
            asked.problems.append(Problem("result_missing", "predict", "predict", "no such clip", expected, fix))
            return
        try:
            asked.prediction, asked.problems = check_prediction(self._rename(answer.prediction), task.targets)
        except Exception as error:  # noqa: BLE001 - an answer must not end the run
            asked.problems = [check_failed("predict", error)]
        if asked.prediction is None or answer.explanation is None:
            return
        try:
            explanation = as_rgb(answer.explanation, self._order)
            asked.explanation, found = check_explanation(explanation, task.explanation, task.targets, duration_s)
        except Exception as error:  # noqa: BLE001 - as above
            found = [check_failed("explain", error)]
        self._pictures |= asked.explanation.image is not None
        if answer.unreadable is not None:
            fix = "write this explanation again"
            expected = "a text, and a picture or None"
            found = [Problem("result_unreadable", "explain", "explain", answer.unreadable, expected, fix)]
        asked.problems += found

    def _rename(self, prediction: object) -> object:
        """Return the prediction under the names of the task's targets."""
        if not isinstance(prediction, dict):
            return prediction
        renamed = dict(prediction)
        for name, target in self._task.target_aliases.items():
            if name in renamed and target not in renamed:
                renamed[target] = renamed.pop(name)
                self._renamed.add(name)
        return renamed

    def _remark(self) -> None:
        """Warn of what holds for the submission as a whole; none of it costs anything."""
        try:
            remarks = self._reader.finish(self._task.limits.call_s)
        except ReadingFailed:
            return
        targets = self._task.target_aliases
        problems = [
            _warning(
                "target_renamed", f"the name {name}", f"the name {targets[name]}",
                f"nothing: the values stand for {targets[name]} as they are, and none is turned round",
            )
            for name in sorted(self._renamed)
        ]  # fmt: skip
        if remarks.unknown:
            found = f"{remarks.unknown} names that are no clips of this phase, such as {remarks.named}"
            problems.append(_warning("results_unknown", found, "the clips of this phase", "compare the names"))
        if remarks.numbers_as_text:
            problems.append(_warning("numbers_as_text", "numbers written as text", "numbers", "write floats"))
        if self._files.explanations is None:
            expected = "a text for every clip"
            problems.append(_warning("results_unexplained", "no file of explanations", expected, "add one"))
        if self._files.form == "2017" and self._pictures and self._order is None:
            fix = "add a line `pictures: rgb` or `pictures: bgr` to metadata.txt"
            found = "pictures of 2017, taken as RGB; many are BGR, which exchanges red and blue"
            problems.append(_warning("picture_order", found, "a stated order of colours", fix))
        self._tally.warn([self._feedback.tell(problem) for problem in problems], self._log)

    def _record(self, clip: ClipSource, status: ClipStatus, seconds: float, problems: list[Problem]) -> None:
        problems = [self._feedback.tell(problem) for problem in problems]
        self._results.add_clip(clip.clip_id, status, {"predict": seconds}, problems)
        self._tally.add_clip(clip.clip_id, status, problems, self._log)


def _warning(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "results", found, expected, fix, severity="warning")
