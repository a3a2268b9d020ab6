"""Ask a model, or submitted results, about each clip; a failure costs its clip, never the others.

Then, in a fresh process and within the remaining time, ask a model about some clips again, and about altered copies.
"""

import sys
import time
import traceback
from dataclasses import replace

from ingest.clips.footage import Footage, check_unchanged
from ingest.clock import Clock, minutes
from ingest.errors import IngestionError, Problem
from ingest.log import Log, Progress
from ingest.media.altered.draws import Draws
from ingest.media.clip import ClipSource
from ingest.media.video import UnreadableClip, is_readable
from ingest.model.asking import CallResult, ask_explanation, ask_prediction
from ingest.model.process import LoadFailed, ModelProcess
from ingest.probes.plan import Claims, claims_of
from ingest.probes.run import CallContext, ProbePass
from ingest.record.feedback import Feedback
from ingest.record.receipt import Determinism, choose
from ingest.record.results import Results
from ingest.record.stats import ClipStatus, RunStats
from ingest.settings import Task

FORECAST_AFTER = 5


class Runner:
    """One pass over the clips, and a second look at a few of them."""

    def __init__(
        self,
        task: Task,
        model: ModelProcess,
        results: Results,
        clock: Clock,
        log: Log,
        stats: RunStats,
        feedback: Feedback,
    ) -> None:
        self._task = task
        self._results = results
        self._clock = clock
        self._log = log
        self._tally = stats
        self._feedback = feedback
        self._frames = model.frames
        self._model = model
        self._answers: dict[str, dict[str, float]] = {}
        self._claims: dict[str, Claims] = {}
        self._longest_s = 0.0
        # Starts that are no fault of the clips: after a warm-up that went wrong, and for the second look.
        self._extra_starts = 0

    def run(self, footage: Footage, draws: Draws) -> None:
        """Predict and explain every clip, as far as the time budget goes."""
        clips = footage.clips
        started = time.monotonic()
        try:
            self._start_model()
            self._tally.begin(self._model.process)
            self._tally.load_s = time.monotonic() - started
            budget = f"{minutes(self._clock.left_s())} minutes of budget"
            self._log.line(f"isolation: {self._model.process.held}")
            self._log.line(f"{self._model.loaded} in {self._tally.load_s:.1f} s; {len(clips)} clips, {budget}")
            if self._model.runs_code:
                self._warm_up(clips)
            self._run_clips(clips)
            self._tally.judge()
            self._tally.compare(list(self._answers.values()))
            if self._model.runs_code:
                self._look_again(footage, draws)
            self._tally.warn(list(map(self._feedback.tell, self._model.remarks())), self._log)
        except LoadFailed as failure:
            self._tally.end("invalid", [self._feedback.tell(failure.problem)])
        finally:
            self._model.stop()
            self._frames.close()
            self._tally.restarts = max(0, self._model.process.starts - 1 - self._extra_starts)
            self._tally.note(self._model.process, self._feedback)

    def _warm_up(self, clips: list[ClipSource]) -> None:
        """Ask once without counting it: a first call often compiles or loads, which is no clip's own time."""
        for clip in clips:
            try:
                facts = self._frames.begin(clip, [])
            except UnreadableClip:
                continue
            timeout_s = self._timeout_s(self._task.limits.load_s)
            started = time.monotonic()
            ask_prediction(self._model, clip, facts, self._task, timeout_s, CallResult())
            self._model.forget(self._frames.end(model_lives=self._model.process.alive).gone)
            self._extra_starts += not self._model.process.alive
            self._log.line(f"warm-up: {time.monotonic() - started:.1f} s, counted for no clip")
            return

    def _run_clips(self, clips: list[ClipSource]) -> None:
        first_s = before_s = self._clock.elapsed_s()
        progress = Progress(self._log, self._clock, "first pass", "clips", len(clips))
        for done, clip in enumerate(clips, 1):
            reason = self._reason_to_stop()
            if reason is not None:
                self._leave(clips[done - 1 :], reason)
                return
            self._run_clip(clip, clips[done:])
            now_s = self._clock.elapsed_s()
            self._longest_s, before_s = max(self._longest_s, now_s - before_s), now_s
            mean_s = (now_s - first_s) / done
            progress.tell(done)
            if done == FORECAST_AFTER:
                self._forecast(done, len(clips), mean_s)

    def _forecast(self, done: int, total: int, mean_s: float) -> None:
        reached = done + max(0, int(self._clock.left_s() / mean_s)) if mean_s else total
        if reached < total:
            advice = "read fewer or smaller frames; clips not reached get the worst score"
            self._log.line(f"at this speed, time will run out after about {reached} of {total} clips: {advice}")

    def _reason_to_stop(self) -> Problem | None:
        if self._clock.left_s() < self._longest_s:
            found, expected = "the time budget used up", "all clips inside the budget"
            return _stop("time_budget", found, expected, self._model.faster)
        return self._revive()

    def _revive(self) -> Problem | None:
        """Start the model again where it has died; return why that is not possible."""
        if self._model.process.alive:
            return None
        if self._model.process.starts - self._extra_starts > self._task.limits.restarts:
            fix = "look at the first failure in the log"
            found = f"a {self._model.name} that died or hung too often"
            return _stop("restarts_used_up", found, self._model.survivor, fix)
        try:
            self._start_model()
        except LoadFailed as failure:
            return self._feedback.tell(failure.problem)
        return None

    def _leave(self, clips: list[ClipSource], reason: Problem) -> None:
        """Record the clips that are not run any more."""
        self._tally.end("partial", [reason])
        status: ClipStatus = "not_reached" if reason.code == "time_budget" else "failed"
        for clip in clips:
            self._record(clip, status, {}, [])

    def _run_clip(self, clip: ClipSource, upcoming: list[ClipSource]) -> None:
        seconds: dict[str, float] = {}
        try:
            facts = self._frames.begin(clip, upcoming)
        except UnreadableClip as error:
            self._record_undecoded(clip, seconds, [_unreadable(clip, str(error))])
            return
        asked = CallResult()
        started = time.monotonic()
        ask_prediction(self._model, clip, facts, self._task, self._timeout_s(), asked)
        seconds["predict"] = time.monotonic() - started
        if asked.prediction is not None and self._model.explains:
            started = time.monotonic()
            ask_explanation(self._model, clip, facts, self._task, self._timeout_s(), asked)
            seconds["explain"] = time.monotonic() - started
        end = self._frames.end(model_lives=self._model.process.alive)
        self._model.forget(end.gone)
        problems = asked.problems + [_unreadable(clip, fault) for fault in end.faults]
        if end.unreadable:
            self._record_undecoded(clip, seconds, problems)
        elif asked.prediction is None:
            self._record(clip, "failed", seconds, problems)
        else:
            self._answers[clip.clip_id] = asked.prediction
            self._claims[clip.clip_id] = claims_of(asked.explanation.evidence)
            self._results.add_prediction(clip.clip_id, asked.prediction, asked.explanation)
            self._record(clip, "ok", seconds, problems)

    def _record_undecoded(self, clip: ClipSource, seconds: dict[str, float], problems: list[Problem]) -> None:
        """Leave a clip out that cannot be decoded; where only the model kept it from being decoded, it has failed."""
        check_unchanged(clip, named=not self._tally.hidden)
        self._model.stop()  # gives back what it took
        if not is_readable(clip.path):
            self._extra_starts += 1
            self._record(clip, "unreadable", seconds, problems)
            return
        spoiled = Problem("too_much", "predict", "predict", *_SPOILED)
        mine = [problem for problem in problems if problem.fault == "participant"]
        self._record(clip, "failed", seconds, [*mine, spoiled])

    def _look_again(self, footage: Footage, draws: Draws) -> None:
        """Ask in a fresh process: a few clips once more, then altered ones. Only where every clip had its turn."""
        if self._tally.status != "complete" or not self._answers:
            return
        probes = None
        try:
            if self._task.probes is not None:
                probes = ProbePass(self._task, footage, self._claims, draws, self._results, self._tally)
            self._in_a_fresh_process(footage.clips, probes)
        except Exception as error:  # noqa: BLE001 - every clip has had its turn: nothing may cost its result any more
            self._tally.warn(_broken_off(error), self._log)
        if probes is not None:
            self._tally.warn([self._feedback.tell(problem) for problem in probes.problems()], self._log)

    def _in_a_fresh_process(self, clips: list[ClipSource], probes: ProbePass | None) -> None:
        if not (self._time_to_start() and self._starts_afresh()):
            return
        self._ask_again(clips)
        if probes is not None:
            means = CallContext(self._model, self._clock, self._log, self._longest_s, self._revive)
            probes.run(means)
            if probes.repeats and self._time_to_start():
                probes.ask_again(means, loaded=self._starts_afresh())

    def _time_to_start(self) -> bool:
        return self._clock.left_s() >= self._task.limits.load_s + self._longest_s

    def _starts_afresh(self) -> bool:
        """Start the model anew, for no fault of its own; return whether it could be loaded."""
        self._extra_starts += 1
        try:
            self._start_model()
        except LoadFailed:
            return False
        return True

    def _ask_again(self, clips: list[ClipSource]) -> None:
        determinism = Determinism()
        again = choose([clip for clip in clips if clip.clip_id in self._answers], self._task.seed)
        for position, clip in enumerate(again, 1):
            if self._clock.left_s() < self._longest_s or not self._model.process.alive:
                break
            asked = CallResult()
            try:
                facts = self._frames.begin(clip, again[position:])
            except UnreadableClip:
                check_unchanged(clip, named=not self._tally.hidden)
                continue
            ask_prediction(self._model, clip, facts, self._task, self._timeout_s(), asked)
            self._model.forget(self._frames.end(model_lives=self._model.process.alive).gone)
            determinism.add(self._answers[clip.clip_id], asked.prediction)
        if determinism.clips:
            self._tally.determinism = determinism
            self._tally.problems += map(self._feedback.tell, determinism.problems())
            same = f"{determinism.identical} of {determinism.clips}"
            self._log.line(f"asked again in a fresh process: {same} clips got the same answer")

    def _start_model(self) -> None:
        """Start the model, in what is left of the budget; raises what `ModelProcess.start` raises."""
        self._model.start(self._timeout_s(self._task.limits.load_s))

    def _timeout_s(self, limit_s: float | None = None) -> float:
        return min(limit_s or self._task.limits.call_s, max(1.0, self._clock.left_s()))

    def _record(self, clip: ClipSource, status: ClipStatus, seconds: dict[str, float], problems: list[Problem]) -> None:
        problems = [self._feedback.tell(problem) for problem in problems]
        self._results.add_clip(clip.clip_id, status, seconds, problems)
        self._tally.add_clip(clip.clip_id, status, problems, self._log)


_SPOILED = ("what decoding needs: threads or memory", "room for the decoder", "start fewer threads, use less memory")


def _stop(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "the remaining clips", found, expected, fix)


def _unreadable(clip: ClipSource, fault: str) -> Problem:
    fix = "replace the file; `bundle check` finds such clips before the upload"
    return Problem("clip_unreadable", "data", clip.clip_id, fault, "a clip that decodes", fix, fault="organiser")


def _broken_off(error: Exception) -> list[Problem]:
    """Return warnings about what ended the second look."""
    if isinstance(error, IngestionError):
        return [replace(problem, severity="warning") for problem in error.problems]
    sys.stderr.writelines(traceback.format_tb(error.__traceback__))
    # Only the type: the text of an exception may quote what a model sent.
    found, fix = f"{type(error).__name__} in the second pass", "report it with the log"
    expected = "no error in this program"
    return [Problem("unexpected", "run", "altered copies", found, expected, fix, severity="warning", fault="organiser")]
