"""The second pass: ask the model about altered copies and record its answers, within the remaining time."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ingest.clips.footage import check_unchanged
from ingest.errors import Problem
from ingest.log import Progress
from ingest.media.frame_server import AHEAD_CLIPS
from ingest.media.video import UnreadableClip
from ingest.model.asking import NO_EXPLANATION, CallResult, ask_explanation, ask_prediction
from ingest.probes.edits import choose_edits
from ingest.probes.plan import askings, plan_calls
from ingest.probes.record import line
from ingest.probes.repeats import choose_repeats
from ingest.probes.stage import Stage
from ingest.record.codes import CODES
from ingest.record.receipt import Determinism
from ingest.record.stats import ProbeCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ingest.clips.footage import Footage
    from ingest.clock import Clock
    from ingest.log import Log
    from ingest.media.altered.draws import Draws
    from ingest.media.clip import ClipSource
    from ingest.model.process import ModelProcess
    from ingest.probes.plan import Call, Claims
    from ingest.record.results import Results
    from ingest.record.stats import RunStats
    from ingest.settings import Task

NAMED_CAUSES = 3
"""Of calls without a valid answer, the most frequent first."""


@dataclass(frozen=True)
class CallContext:
    """What the second pass asks with."""

    model: ModelProcess
    """The model."""
    clock: Clock
    """Of the run."""
    log: Log
    """Where progress is told."""
    longest_s: float
    """Seconds of the slowest clip of the first pass: a call is not begun with less time left."""
    revive: Callable[[], Problem | None]
    """Starts a model that has died; returns why it cannot. Not called without time for a slow start."""


class ProbePass:
    """All altered copies of one run: planned when it is made, asked by `run`."""

    def __init__(
        self,
        task: Task,
        footage: Footage,
        claims: Mapping[str, Claims],
        draws: Draws,
        results: Results,
        stats: RunStats,
    ) -> None:
        if task.probes is None:
            raise ValueError("a task without probes has no second pass")
        self._task = task
        self._results = results
        self._hidden = stats.hidden
        self._clips = {clip.clip_id: clip for clip in footage.clips if clip.clip_id in claims}
        self._stage = Stage(footage, task, draws)
        edits = {
            clip_id: choose_edits(
                clip_id,
                claims[clip_id].cues,
                footage.copies.get(clip_id, ()),
                task.explanation.evidence.cues,
                clip.transcript,
                footage.faces.get(clip_id),
                draws,
            )
            for clip_id, clip in self._clips.items()
        }
        grid = task.explanation.evidence.grid.rows, task.explanation.evidence.grid.columns
        self._plan = plan_calls(claims, edits, footage.exchanges, task.probes, grid, draws)
        self._count = stats.probes = ProbeCount(planned=sum(map(len, self._plan.values())))
        self._draws = draws
        self._answers: dict[Call, dict[str, float]] = {}
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, Problem] = {}
        self._gone: Problem | None = None  # why the model could not be started again
        results.begin_probes()

    def run(self, means: CallContext) -> None:
        """Ask call after call until all are asked, time is out or the model cannot be started again."""
        started = means.clock.elapsed_s()
        progress = Progress(means.log, means.clock, "second pass", "calls on altered copies", self._count.planned)
        for calls, asked in self._ask_all(self._plan, means, self._task.limits.call_s):
            for problem in asked.problems:
                if problem.severity == "error":
                    self._failures[problem.code] += 1
                    self._first_failures.setdefault(problem.code, problem)
            for call in calls:
                self._record(call, asked)
            self._count.duration_s = means.clock.elapsed_s() - started
            progress.tell(self._count.asked)

    @property
    def repeats(self) -> list[Call]:
        """The altered copies to ask again in a fresh process; none unless the whole plan was asked."""
        if self._count.asked < self._count.planned:
            return []
        return choose_repeats(self._plan, self._answers, self._draws)

    def ask_again(self, means: CallContext, *, loaded: bool) -> None:
        """Ask the repeats, of a model that was just started, as far as there is time.

        A model that could not be loaded, or dies for good, has failed those that are left: failing must not pay.
        """
        again = Determinism()
        left = self.repeats
        plan = {call.clip_id: [call] for call in left} if loaded else {}
        # The first call of a process often compiles or loads, so each has the time of a start.
        limit_s = max(self._task.limits.call_s, self._task.limits.load_s)
        for (call,), asked in self._ask_all(plan, means, limit_s):
            left.remove(call)
            self._add_again(call, asked.prediction, again)
        if self._gone or not loaded:
            for call in left:
                self._add_again(call, None, again)
        if again.clips:
            self._count.again = again
            same = f"{again.identical} of {again.clips}"
            means.log.line(f"asked again in a fresh process: {same} altered copies got the same answer")

    def _add_again(self, call: Call, prediction: dict[str, float] | None, again: Determinism) -> None:
        self._results.add_probe(line(call, prediction, None, again=True))
        again.add(self._answers[call], prediction)

    def problems(self) -> list[Problem]:
        """Return a warning for calls without a valid answer, and one for those that were not reached."""
        problems = []
        count = self._count
        if count.answered < count.asked:
            common = [(self._first_failures[code], times) for code, times in self._failures.most_common(NAMED_CAUSES)]
            causes = "; ".join(f"{times} × {first.code} ({first.where}: {first.found})" for first, times in common)
            found = f"{count.asked - count.answered} of {count.asked} altered copies without a valid answer"
            fixes = [first.fix or CODES[first.code].fix for first, _ in common] or [CODES["probes_unanswered"].fix]
            found = f"{found}: {causes}" if causes else found
            problems.append(_warning("probes_unanswered", found, "an answer for every altered copy", fixes[0]))
        if count.asked < count.planned:
            found = f"{count.planned - count.asked} of {count.planned} altered copies that were not reached"
            fix = "make the model faster"
            if self._gone is not None:
                found, fix = f"{found}: {self._gone.found}", "correct the error that stopped the model"
            problems.append(_warning("probes_not_reached", found, "enough time and a running model for all", fix))
        if count.again is not None:
            problems += count.again.problems_of_copies()
        return problems

    def _staged(self, plan: Mapping[str, list[Call]]) -> Iterator[tuple[list[Call], ClipSource]]:
        """Yield what is shown next with the calls that are asked of it."""
        for clip_id, calls in plan.items():
            gathered = askings(calls)
            try:
                staged = list(self._stage.clips(self._clips[clip_id], (same[0] for same in gathered)))
            except UnreadableClip:
                check_unchanged(self._clips[clip_id], named=not self._hidden)
                continue
            yield from zip(gathered, staged, strict=True)

    def _ask_all(
        self, plan: Mapping[str, list[Call]], means: CallContext, limit_s: float
    ) -> Iterator[tuple[list[Call], CallResult]]:
        """Yield what is asked together with its answers, as long as there is time and a model.

        Parameters
        ----------
        limit_s
            Seconds that a call may take.
        """
        clock, model, longest_s = means.clock, means.model, means.longest_s
        before_s = clock.elapsed_s()
        staged = self._staged(plan)
        window = deque(islice(staged, AHEAD_CLIPS + 1))
        while window and clock.left_s() >= longest_s + self._start_s(model):
            self._gone = means.revive()
            if self._gone is not None:
                return
            calls, shown = window.popleft()
            window.extend(islice(staged, 1))
            yield calls, self._ask(calls, shown, [source for _, source in window], means, limit_s)
            now_s = clock.elapsed_s()
            longest_s, before_s = max(longest_s, now_s - before_s), now_s

    def _ask(
        self, calls: list[Call], shown: ClipSource, upcoming: list[ClipSource], means: CallContext, limit_s: float
    ) -> CallResult:
        """Ask for a prediction, and for an explanation where a twin is among the calls."""
        asked, model, frames = CallResult(), means.model, means.model.frames
        try:
            facts = frames.begin(shown, upcoming)
        except UnreadableClip:
            check_unchanged(shown, named=not self._hidden)
            return asked
        ask_prediction(model, shown, facts, self._task, _timeout_s(means.clock, limit_s), asked)
        if any(call.kind == "twin" for call in calls) and asked.prediction is not None:
            ask_explanation(model, shown, facts, self._task, _timeout_s(means.clock, limit_s), asked)
        end = frames.end(model_lives=model.process.alive)
        model.forget(end.gone)
        if end.unreadable:
            check_unchanged(shown, named=not self._hidden)
            asked.prediction, asked.explanation = None, NO_EXPLANATION
        return asked

    def _record(self, call: Call, asked: CallResult) -> None:
        twin = call.kind == "twin"
        prediction = None if twin else asked.prediction
        explanation = asked.explanation if twin and asked.explanation is not NO_EXPLANATION else None
        self._results.add_probe(line(call, prediction, explanation))
        self._count.asked += 1
        self._count.answered += prediction is not None or explanation is not None
        if prediction is not None:
            self._answers[call] = prediction

    def _start_s(self, model: ModelProcess) -> float:
        """Return how long it may take until the model can be asked: loading has no call's time limit."""
        return 0.0 if model.process.alive else self._task.limits.load_s


def _timeout_s(clock: Clock, limit_s: float) -> float:
    return min(limit_s, max(1.0, clock.left_s()))


def _warning(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "run", "altered copies", found, expected, fix, severity="warning")
