"""Run the model over the clips, one after another: a failure costs its clip, never the others."""

import time
from pathlib import Path

from ingest.answers import Explanation, check_explanation, check_prediction
from ingest.clock import Clock, minutes
from ingest.data import ClipSource
from ingest.errors import Problem, Stage
from ingest.frame_server import FrameServer
from ingest.log import Log
from ingest.model import CallFailed, LoadFailed, ModelProcess
from ingest.results import Results
from ingest.settings import Task
from ingest.tally import ClipStatus, Tally
from ingest.video import ClipFacts, UnreadableClip

PROGRESS_LINES = 60
FORECAST_AFTER = 5
NO_EXPLANATION = Explanation(None, None, None)


class Runner:
    """One pass over the clips."""

    def __init__(
        self,
        task: Task,
        submission: Path,
        packages: Path | None,
        results: Results,
        clock: Clock,
        log: Log,
        tally: Tally,
    ) -> None:
        self._task = task
        self._results = results
        self._clock = clock
        self._log = log
        self._tally = tally
        self._frames = FrameServer()
        self._model = ModelProcess(submission, packages, self._frames, task.limits, task.isolation)

    @property
    def model_output(self) -> bytes:
        """The last of what the model printed."""
        return bytes(self._model.output)

    def run(self, clips: list[ClipSource]) -> None:
        """Predict and explain every clip, as far as the time budget goes."""
        started = time.monotonic()
        try:
            self._model.start()
            self._tally.load_s = time.monotonic() - started
            budget = f"{minutes(self._clock.left_s())} minutes of budget"
            self._log.line(f"isolation: {self._model.tier}")
            self._log.line(f"model loaded in {self._tally.load_s:.1f} s; {len(clips)} clips, {budget}")
            self._run_clips(clips)
            self._tally.judge()
        except LoadFailed as failure:
            self._tally.end("invalid", [failure.problem])
        finally:
            self._model.stop()
            self._frames.close()
            self._tally.restarts = max(0, self._model.starts - 1)
            self._tally.isolation = self._model.tier

    def _run_clips(self, clips: list[ClipSource]) -> None:
        first_s = before_s = self._clock.elapsed_s()
        longest_s = 0.0
        step = max(1, -(-len(clips) // PROGRESS_LINES))
        for done, clip in enumerate(clips, 1):
            reason = self._reason_to_stop(longest_s)
            if reason is not None:
                self._leave(clips[done - 1 :], reason)
                return
            self._run_clip(clip, clips[done:])
            now_s = self._clock.elapsed_s()
            longest_s, before_s = max(longest_s, now_s - before_s), now_s
            if done % step == 0 or done in {FORECAST_AFTER, len(clips)}:
                mean_s = (now_s - first_s) / done
                rest = f"about {minutes(mean_s * (len(clips) - done))} to go"
                left = f"{minutes(self._clock.left_s())} of budget left"
                self._log.line(f"clip {done} of {len(clips)} · {mean_s:.2f} s a clip · {rest}, {left}")

    def _reason_to_stop(self, longest_s: float) -> Problem | None:
        if self._clock.left_s() < longest_s:
            fix = "make the model faster: read fewer or smaller frames"
            return _stop("time_budget", "the time budget used up", "all clips inside the budget", fix)
        if self._model.alive:
            return None
        if self._model.starts > self._task.limits.restarts:
            fix = "look at the first failure in the log"
            found = "a model process that died or hung too often"
            return _stop("restarts_used_up", found, "a model that survives its clips", fix)
        try:
            self._model.start()
        except LoadFailed as failure:
            return failure.problem
        return None

    def _leave(self, clips: list[ClipSource], reason: Problem) -> None:
        """Record the clips that are not run any more."""
        self._tally.end("partial", [reason])
        status: ClipStatus = "not_reached" if reason.code == "time_budget" else "failed"
        for clip in clips:
            self._record(clip, status, {}, [])

    def _run_clip(self, clip: ClipSource, upcoming: list[ClipSource]) -> None:
        seconds: dict[str, float] = {}
        problems: list[Problem] = []
        try:
            facts = self._frames.begin(clip, upcoming)
        except UnreadableClip as error:
            self._record(clip, "unreadable", seconds, [_unreadable(clip, str(error))])
            return
        prediction = self._predict(clip, facts, seconds, problems)
        explanation = NO_EXPLANATION
        if prediction is not None:
            explanation = self._explain(clip, facts, prediction, seconds, problems)
        end = self._frames.end(model_lives=self._model.alive)
        self._model.forget(end.gone)
        problems += [_unreadable(clip, fault) for fault in end.faults]
        if end.unreadable:
            self._record(clip, "unreadable", seconds, problems)
        elif prediction is None:
            self._record(clip, "failed", seconds, problems)
        else:
            self._results.add_prediction(clip.clip_id, prediction, explanation)
            self._record(clip, "ok", seconds, problems)

    def _predict(
        self, clip: ClipSource, facts: ClipFacts, seconds: dict[str, float], problems: list[Problem]
    ) -> dict[str, float] | None:
        started = time.monotonic()
        try:
            value = self._model.predict(facts, clip.transcript, self._timeout_s())
        except CallFailed as failure:
            problems.append(failure.problem)
            return None
        finally:
            seconds["predict"] = time.monotonic() - started
        try:
            prediction, found = check_prediction(value, self._task.targets)
        except Exception as error:  # noqa: BLE001 - an answer must not end the run
            problems.append(_unexpected("predict", error))
            return None
        problems += found
        return prediction

    def _explain(
        self,
        clip: ClipSource,
        facts: ClipFacts,
        prediction: dict[str, float],
        seconds: dict[str, float],
        problems: list[Problem],
    ) -> Explanation:
        started = time.monotonic()
        try:
            value = self._model.explain(facts, clip.transcript, prediction, self._timeout_s())
        except CallFailed as failure:
            problems.append(failure.problem)
            return NO_EXPLANATION
        finally:
            seconds["explain"] = time.monotonic() - started
        try:
            explanation, found = check_explanation(value, self._task.explanation, self._task.targets, facts.duration_s)
        except Exception as error:  # noqa: BLE001 - an answer must not end the run
            problems.append(_unexpected("explain", error))
            return NO_EXPLANATION
        problems += found
        return explanation

    def _timeout_s(self) -> float:
        return min(self._task.limits.call_s, max(1.0, self._clock.left_s()))

    def _record(self, clip: ClipSource, status: ClipStatus, seconds: dict[str, float], problems: list[Problem]) -> None:
        self._results.add_clip(clip.clip_id, status, seconds, problems)
        self._tally.add_clip(clip.clip_id, status, problems, self._log)


def _unexpected(stage: Stage, error: BaseException) -> Problem:
    found = f"{type(error).__name__} while this answer was checked"
    return Problem(
        "check_failed", stage, stage, found, "an answer that can be checked", "tell the organisers: our fault"
    )


def _stop(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "the remaining clips", found, expected, fix)


def _unreadable(clip: ClipSource, fault: str) -> Problem:
    fix = "replace the file; `bundle check` finds such clips before the upload"
    return Problem("clip_unreadable", "data", clip.clip_id, fault, "a clip that decodes", fix, fault="organiser")
