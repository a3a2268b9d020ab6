"""Ask a model, or submitted results, about each clip; a failure costs its clip, never the others.

Then, if time remains, ask a model in a fresh process about some clips again, and about altered copies.
"""

import sys
import traceback
from dataclasses import replace

from ingest.causes import CAUSES
from ingest.clock import Clock, minutes
from ingest.data import Dataset
from ingest.draws import KeyedRandom
from ingest.errors import IngestionError, Problem
from ingest.log import Log, Progress
from ingest.media.alteration import ClipSource
from ingest.model import CheckedExplanation, LoadFailed
from ingest.pool import WorkerPool
from ingest.probes.copies import CopyFactory
from ingest.probes.run import ProbePass
from ingest.record_writer import REPEATS, RecordWriter
from ingest.settings import Task
from ingest.stats import ClipStatus, Determinism, Feedback, RunStats, choose
from ingest.workers import Answer, ClipTask, PassLimits, Query

FORECAST_AFTER = 5


class Runner:
    """The first pass over the clips, then repeats and the second pass."""

    def __init__(
        self,
        task: Task,
        pool: WorkerPool,
        results: RecordWriter,
        clock: Clock,
        log: Log,
        stats: RunStats,
        feedback: Feedback,
    ) -> None:
        self._task = task
        self._pool = pool
        self._results = results
        self._clock = clock
        self._log = log
        self._tally = stats
        self._feedback = feedback
        self._answers: dict[str, dict[str, float]] = {}
        self._copies: CopyFactory | None = None

    def run(self, dataset: Dataset, draws: KeyedRandom) -> None:
        """Predict and explain every clip while the time budget lasts."""
        clips = dataset.clips
        if self._pool.runs_code:
            self._results.begin(REPEATS)
        if self._task.probes is not None:
            # Before a model runs, so that neither its time nor its answers decide what is read.
            self._copies = CopyFactory(dataset, self._task, draws)
            self._tally.untested = self._copies.untested()
        try:
            loaded = self._pool.start(clips)
            self._tally.begin(self._pool)
            self._tally.load_s = loaded.load_s
            budget = f"{minutes(self._clock.left_s())} minutes of budget"
            self._log.line(f"isolation: {self._pool.isolation}")
            self._log.line(f"{loaded.what} in {loaded.load_s:.1f} s; {len(clips)} clips, {budget}")
            if loaded.warm_up_s is not None:
                self._log.line(f"warm-up: {loaded.warm_up_s:.1f} s, not counted for any clip")
            self._run_clips(clips)
            self._tally.conclude()
            self._tally.compare(list(self._answers.values()))
            if self._pool.runs_code:
                self._look_again(dataset, draws)
            self._tally.warn(list(map(self._feedback.redact, self._pool.remarks())), self._log)
        except LoadFailed as failure:
            self._tally.end("invalid", [self._feedback.redact(failure.problem)])
        finally:
            self._pool.stop()
            self._tally.restarts = self._pool.restarts
            self._tally.note(self._pool, self._feedback)

    def _run_clips(self, clips: list[ClipSource]) -> None:
        started_s = self._clock.elapsed_s()
        progress = Progress(self._log, self._clock, "first pass", "clips", len(clips))
        tasks = (ClipTask(clip.clip_id, (Query(clip, self._pool.explains),)) for clip in clips)
        limits = PassLimits(counts=True, call_s=self._task.limits.call_s, spare_s=0.0)
        left = {clip.clip_id: clip for clip in clips}
        for done, (task, _, answer) in enumerate(self._pool.ask(tasks, limits), 1):
            self._take(left.pop(task.clip_id), answer)
            progress.update(done)
            if done == FORECAST_AFTER:
                mean_s = (self._clock.elapsed_s() - started_s) / done
                reached = done + max(0, int(self._clock.left_s() / mean_s)) if mean_s else len(clips)
                if reached < len(clips):
                    advice = "read fewer or smaller frames; clips not reached get the worst score"
                    forecast = f"time will run out after about {reached} of {len(clips)} clips"
                    self._log.line(f"at this speed, {forecast}: {advice}")
        if left:
            self._leave(list(left.values()))

    def _leave(self, clips: list[ClipSource]) -> None:
        """Record the clips that were not reached."""
        reason = CAUSES["time"].as_problem("run", "the remaining clips", faster=self._pool.faster)
        status: ClipStatus = "not_reached"
        if self._pool.stopped_by is not None:
            reason, status = self._feedback.redact(self._pool.stopped_by), "failed"
        self._tally.end("partial", [reason])
        for clip in clips:
            self._record(clip, status, {}, ())

    def _take(self, clip: ClipSource, answer: Answer) -> None:
        status: ClipStatus = "unreadable" if answer.unreadable else "failed"
        if answer.prediction is not None:
            explanation = answer.explanation or CheckedExplanation()
            self._answers[clip.clip_id] = answer.prediction
            self._results.add_prediction(clip.clip_id, answer.prediction, explanation)
            status = "ok"
        self._record(clip, status, answer.seconds, answer.problems)

    def _look_again(self, dataset: Dataset, draws: KeyedRandom) -> None:
        """Ask a fresh process about a few clips again, then about altered copies, but only if every clip was run."""
        if self._tally.status != "complete" or not self._answers:
            return
        probes = None
        try:
            if self._copies is not None:
                probes = ProbePass(self._task, dataset, self._copies, self._answers, draws, self._results, self._tally)
            self._in_a_fresh_process(dataset.clips, probes)
        except Exception as error:  # noqa: BLE001 - every clip has had its turn: nothing may cost its result any more
            self._tally.warn(_broken_off(error), self._log)
        if probes is not None:
            self._tally.warn([self._feedback.redact(problem) for problem in probes.problems()], self._log)

    def _in_a_fresh_process(self, clips: list[ClipSource], probes: ProbePass | None) -> None:
        if not self._pool.has_time_to_start():
            return
        loaded = self._pool.start_afresh()
        self._ask_again(clips, loaded=loaded)
        if loaded and probes is not None:
            probes.run(self._pool, self._clock, self._log)
            if probes.repeats and self._pool.has_time_to_start():
                probes.ask_again(self._pool, self._log, loaded=self._pool.start_afresh(alone=True))

    def _ask_again(self, clips: list[ClipSource], *, loaded: bool) -> None:
        """Ask about some clips as in the first pass, until time runs out or the model dies.

        If it cannot be loaded, or dies, the remaining clips count as failed: failing must not pay.
        """
        determinism = Determinism()
        left = choose([clip for clip in clips if clip.clip_id in self._answers], self._task.seed)
        tasks = [ClipTask(clip.clip_id, (Query(clip, self._pool.explains),)) for clip in left if loaded]
        limits = PassLimits(counts=False, call_s=self._task.limits.call_s, spare_s=self._task.limits.load_s)
        gone = not loaded
        for task, _, answer in self._pool.ask(tasks, limits) if loaded else ():
            left.pop(0)
            if not answer.unreadable:
                self._results.add_repeat(task.clip_id, answer.prediction, answer.explanation)
                determinism.add(self._answers[task.clip_id], answer.prediction)
            gone = answer.crashed
            if gone:
                break
        for clip in left if gone or self._pool.stopped_by else ():
            self._results.add_repeat(clip.clip_id, None, None)
            determinism.add(self._answers[clip.clip_id], None)
        if determinism.clips:
            self._tally.determinism = determinism
            self._tally.problems += map(self._feedback.redact, determinism.problems())
            same = f"{determinism.identical} of {determinism.clips}"
            self._log.line(f"asked again in a fresh process: {same} clips got the same answer")

    def _record(
        self, clip: ClipSource, status: ClipStatus, seconds: dict[str, float], problems: tuple[Problem, ...]
    ) -> None:
        shown = [self._feedback.redact(problem) for problem in problems]
        self._results.add_clip(clip.clip_id, status, seconds, shown)
        self._tally.add_clip(clip.clip_id, status, shown, self._log)


def _broken_off(error: Exception) -> list[Problem]:
    """Return warnings about what ended the repeats or the second pass."""
    if isinstance(error, IngestionError):
        return [replace(problem, severity="warning") for problem in error.problems]
    sys.stderr.writelines(traceback.format_tb(error.__traceback__))
    # Only the type: the text of an exception may quote what a model sent.
    found = f"{type(error).__name__} in the second pass"
    problem = CAUSES["program"].as_problem("run", "perturbed copies", found=found)
    return [replace(problem, fix="report it with the log", severity="warning")]
