"""The second pass: ask the model about altered copies and record its answers, within the remaining time."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ingest.codes import CODES
from ingest.errors import Problem
from ingest.evidence import seconds_of
from ingest.log import Progress
from ingest.media.video import UnreadableClip
from ingest.probes.plan import choose_repeats, group_calls, plan_calls
from ingest.record_writer import PROBES
from ingest.stats import Determinism, ProbeCount
from ingest.workers import ClipTask, PassLimits, Query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ingest.clock import Clock
    from ingest.data import Dataset
    from ingest.draws import KeyedRandom
    from ingest.log import Log
    from ingest.media.alteration import ClipSource
    from ingest.model import CheckedExplanation
    from ingest.pool import WorkerPool
    from ingest.probes.copies import CopyFactory
    from ingest.probes.plan import Call
    from ingest.record_writer import RecordWriter
    from ingest.settings import Task
    from ingest.stats import RunStats
    from ingest.workers import Answer

NAMED_CAUSES = 3
"""Most causes of invalid answers that a message names."""


class ProbePass:
    """All altered copies of one run: planned on construction, asked by `run`."""

    def __init__(
        self,
        task: Task,
        dataset: Dataset,
        copies: CopyFactory,
        predicted: Collection[str],
        draws: KeyedRandom,
        results: RecordWriter,
        stats: RunStats,
    ) -> None:
        """Plan the calls; `copies`: makes what they show. `predicted`: ids of the clips with a valid prediction."""
        if task.probes is None:
            raise ValueError("a task without probes has no second pass")
        self._limits = task.limits
        self._results = results
        self._clips = {clip.clip_id: clip for clip in dataset.clips if clip.clip_id in predicted}
        self._copies = copies
        edits = {clip_id: self._copies.edits(clip) for clip_id, clip in self._clips.items()}
        grid = task.explanation.evidence.grid.rows, task.explanation.evidence.grid.columns
        seconds = {clip_id: _seconds(clip) for clip_id, clip in self._clips.items()}
        self._plan = plan_calls(seconds, edits, dataset.exchanges, task.probes, grid, draws)
        self._count = stats.probes = ProbeCount(planned=sum(map(len, self._plan.values())))
        self._draws = draws
        self._answers: dict[Call, dict[str, float]] = {}
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, Problem] = {}
        self._gone: Problem | None = None  # why the model could not be restarted
        results.begin(PROBES)

    def run(self, pool: WorkerPool, clock: Clock, log: Log) -> None:
        """Make the calls until all are made, time runs out or the model cannot be restarted."""
        started = clock.elapsed_s()
        progress = Progress(log, clock, "second pass", "calls on perturbed copies", self._count.planned)
        limits = PassLimits(counts=False, call_s=self._limits.call_s, spare_s=self._limits.load_s)
        for task, index, answer in pool.ask(self._tasks(self._plan), limits):
            for problem in answer.problems:
                if problem.severity == "error":
                    self._failures[problem.code] += 1
                    self._first_failures.setdefault(problem.code, problem)
            for call in group_calls(self._plan[task.clip_id])[index] if not answer.unreadable else ():
                self._record(call, answer)
            self._count.duration_s = clock.elapsed_s() - started
            progress.update(self._count.asked)
        self._gone = pool.stopped_by

    @property
    def repeats(self) -> list[Call]:
        """The altered copies to ask again in a fresh process; none unless the whole plan was asked."""
        if self._count.asked < self._count.planned:
            return []
        return choose_repeats(self._plan, self._answers, self._draws)

    def ask_again(self, pool: WorkerPool, log: Log, *, loaded: bool) -> None:
        """Ask a freshly started model the repeats, as long as there is time.

        If it cannot be loaded or restarted, the remaining repeats count as failed: failing must not pay.
        """
        again = Determinism()
        left = self.repeats
        plan = {call.clip_id: [call] for call in left} if loaded else {}
        # The first call of a process often compiles or loads something, so each may take as long as a start.
        limit_s = max(self._limits.call_s, self._limits.load_s)
        for task, _, answer in pool.ask(self._tasks(plan), PassLimits(False, limit_s, self._limits.load_s)):
            (call,) = plan[task.clip_id]
            left.remove(call)
            if not answer.unreadable:
                self._add_again(call, answer.prediction, again)
        self._gone = pool.stopped_by if loaded else None
        if self._gone or not loaded:
            for call in left:
                self._add_again(call, None, again)
        if again.clips:
            self._count.again = again
            same = f"{again.identical} of {again.clips}"
            log.line(f"asked again in a fresh process: {same} perturbed copies got the same answer")

    def _add_again(self, call: Call, prediction: dict[str, float] | None, again: Determinism) -> None:
        self._results.add_probe(line(call, prediction, None, again=True))
        again.add(self._answers[call], prediction)

    def problems(self) -> list[Problem]:
        """Return a warning for calls without a valid answer, and one for calls that were not reached."""
        problems = []
        count = self._count
        if count.answered < count.asked:
            common = [(self._first_failures[code], times) for code, times in self._failures.most_common(NAMED_CAUSES)]
            causes = "; ".join(f"{times} × {first.code} ({first.where}: {first.found})" for first, times in common)
            found = f"{count.asked - count.answered} of {count.asked} perturbed copies without a valid answer"
            fixes = [first.fix or CODES[first.code].fix for first, _ in common] or [CODES["probes_unanswered"].fix]
            found = f"{found}: {causes}" if causes else found
            problems.append(_warning("probes_unanswered", found, "an answer for every perturbed copy", fixes[0]))
        if count.asked < count.planned:
            found = f"{count.planned - count.asked} of {count.planned} perturbed copies that were not reached"
            fix = "make the model faster"
            if self._gone is not None:
                found, fix = f"{found}: {self._gone.found}", "correct the error that stopped the model"
            problems.append(_warning("probes_not_reached", found, "enough time and a running model for all", fix))
        if count.again is not None:
            problems += count.again.problems_of_copies()
        return problems

    def _tasks(self, plan: Mapping[str, list[Call]]) -> Iterator[ClipTask]:
        """Yield what the model is shown of each clip; calls that show the same are asked once."""
        for clip_id, calls in plan.items():
            gathered, clip, undecoded = group_calls(calls), self._clips[clip_id], False
            try:
                shown = self._copies.clips(clip, (same[0] for same in gathered))
            except UnreadableClip:
                shown, undecoded = [clip] * len(gathered), True
            explains = [any(call.kind == "twin" for call in same) for same in gathered]
            yield ClipTask(clip_id, tuple(map(Query, shown, explains)), undecoded)

    def _record(self, call: Call, answer: Answer) -> None:
        twin = call.kind == "twin"
        prediction = None if twin else answer.prediction
        explanation = answer.explanation if twin else None
        self._results.add_probe(line(call, prediction, explanation))
        self._count.asked += 1
        self._count.answered += prediction is not None or explanation is not None
        if prediction is not None:
            self._answers[call] = prediction


def line(
    call: Call, prediction: dict[str, float] | None, explanation: CheckedExplanation | None, *, again: bool = False
) -> dict[str, Any]:
    """Return one call and its answer as a line of `probes.jsonl`.

    `prediction` and `explanation`: None is an invalid answer. `again`: whether another process was asked the same
    before.
    """
    shown = None if explanation is None else explanation.record()
    return {**asdict(call), "prediction": prediction, "explanation": shown, "again": again}


def _seconds(clip: ClipSource) -> int:
    try:
        return seconds_of(clip.facts.duration_s)
    except UnreadableClip:  # reported when it is the clip's turn
        return 0


def _warning(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "perturbed copies", found, expected, fix, severity="warning")
