"""A model worker: one model process, which answers the queries of a clip and is restarted when it crashes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ingest.causes import CAUSES, is_shortage
from ingest.data import check_unchanged
from ingest.errors import Problem
from ingest.media.video import UnreadableClip, can_decode
from ingest.model import LoadFailed, ask_explanation, ask_prediction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.clock import Clock
    from ingest.codes import Stage
    from ingest.media.alteration import ClipSource
    from ingest.model import CheckedExplanation, ModelProcess
    from ingest.settings import Task

TELLING_S = 0.2
"""A shorter call does not show how many cores a model keeps busy, seconds."""


@dataclass(frozen=True)
class Query:
    """One question to a model: predict for a clip, and explain if wanted."""

    shown: ClipSource
    """A clip, or an altered copy of it."""
    explains: bool
    """Whether to ask for an explanation too."""


@dataclass(frozen=True)
class ClipTask:
    """All queries about one clip in one pass, answered in this order by one model process."""

    clip_id: str
    queries: tuple[Query, ...]
    """At least one."""
    undecoded: bool = False
    """Whether what should be shown could not be made, because the clip could not be decoded."""


@dataclass(frozen=True)
class Answer:
    """The outcome of a query."""

    prediction: dict[str, float] | None = None
    """A value within range for every target; None without a valid prediction."""
    explanation: CheckedExplanation | None = None
    """The valid parts; None if none was asked for or returned."""
    problems: tuple[Problem, ...] = ()
    """Everything that was wrong."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long `predict` and `explain` took, if they were called."""
    unreadable: bool = False
    """Whether the clip's file cannot be decoded."""
    crashed: bool = False
    """Whether the model crashed or hung while answering, so that it must be restarted."""


@dataclass(frozen=True)
class PassLimits:
    """What the queries of one pass over the clips may cost."""

    counts: bool
    """Whether this is the first pass, whose answers are scored."""
    call_s: float
    """Time limit of a call, seconds."""
    spare_s: float
    """A crashed model is restarted only if at least this much time is left, seconds."""


@dataclass(frozen=True)
class Loaded:
    """A loaded model."""

    what: str
    """What was loaded, for the log."""
    load_s: float
    """Loading time, seconds."""
    warm_up_s: float | None
    """Duration of the warm-up call, which counts for no clip, seconds; None without one."""
    alone: bool
    """Whether the model asks to run in only one process at a time."""
    cores: float
    """Cores kept busy by the first call; 1 if the call was too short to tell."""


class ModelWorker:
    """One model process and what it takes to ask it: frames, time limits, restarts."""

    def __init__(self, model: ModelProcess, task: Task, clock: Clock, *, hidden: bool) -> None:
        """Prepare to ask a model; `hidden`: whether messages must not name clips."""
        self.model = model
        self._task, self._clock, self._hidden = task, clock, hidden
        self._excused = False  # whether the model was ended through no fault of its own
        self._longest_s = 0.0
        self._ran = False
        self.stopped_by: Problem | None = None
        """Why the last task was not finished; None if time ran out, or nothing is open."""

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """Load the model and warm it up on the first clip that can be decoded.

        Raises
        ------
        LoadFailed
            When it cannot be loaded.
        IngestionError
            When this machine cannot isolate a model as the settings require.
        """
        started, process = time.monotonic(), self.model.process
        self._start()
        load_s = time.monotonic() - started
        used_s = process.used_s()
        warm_up_s = self._warm_up(clips) if self.model.runs_code else None
        cores = (process.used_s() - used_s) / max(warm_up_s or 0.0, TELLING_S)
        return Loaded(self.model.loaded, load_s, warm_up_s, self.model.alone, max(1.0, cores))

    def start_afresh(self) -> bool:
        """Load the model in a new process; return whether that worked."""
        try:
            self._start()
        except LoadFailed:
            return False
        return True

    def has_time_to_start(self) -> bool:
        """Tell whether there is time to load the model and ask one query."""
        return self._clock.left_s() >= self._task.limits.load_s + self._longest_s

    def answer(self, task: ClipTask, limits: PassLimits, restarts: int) -> list[Answer]:
        """Answer the queries of a task; fewer than all if time runs out or the model cannot be restarted.

        Parameters
        ----------
        restarts
            How often the model may be restarted between the queries of this task. A model that is not running when
            the task begins is started in any case.

        Raises
        ------
        IngestionError
            When the machine is at fault.
        """
        answers: list[Answer] = []
        self.stopped_by = None
        if task.undecoded and self._clock.left_s() >= self._longest_s:
            alive = self.model.process.alive
            answer = self._undecoded(task.queries[0].shown, [], {})
            crashed = alive and not self._excused
            return [replace(answer, crashed=crashed), *[answer] * (len(task.queries) - 1)]
        for query in task.queries:
            began_s, process = time.monotonic(), self.model.process
            if self._clock.left_s() < self._longest_s + (0.0 if process.alive else limits.spare_s):
                break
            if not process.alive:
                if answers and not self._excused:
                    if restarts == 0:
                        break
                    restarts -= 1
                try:
                    self._start()
                except LoadFailed as failure:
                    self.stopped_by = failure.problem
                    break
            try:
                answer = self._ask(query, limits)
            except (OSError, MemoryError) as error:
                if not is_shortage(error):
                    raise
                self.model.stop()  # frees what it took
                self.model.forget(self.model.frames.end().gone)
                shortage = CAUSES["shortage"].as_problem("predict", "predict", kind=type(error).__name__)
                answer = Answer(problems=(shortage,))
            answers.append(replace(answer, crashed=not process.alive and not self._excused))
            self._longest_s = max(self._longest_s, time.monotonic() - began_s)
        for query in task.queries:
            if query.shown.alteration is not None:
                query.shown.alteration.cache.release()
        return answers

    def close(self) -> None:
        """End the model's process for good."""
        self.model.stop()
        self.model.frames.close()

    def _start(self) -> None:
        self._excused = False
        try:
            self.model.start(self._timeout_s(self._task.limits.load_s))
        except (OSError, MemoryError, RuntimeError) as error:
            if not (self._ran and is_shortage(error)):  # before, no model could have used anything up
                raise
            self.model.stop()  # it may run, with nobody to watch it
            raise LoadFailed(CAUSES["shortage"].as_problem("load", "load", kind=type(error).__name__)) from error
        self._ran = True

    def _timeout_s(self, limit_s: float) -> float:
        return min(limit_s, max(1.0, self._clock.left_s()))

    def _warm_up(self, clips: Sequence[ClipSource]) -> float | None:
        """Make an uncounted first call: it often compiles or loads something, which no clip should be charged for."""
        model = self.model
        for clip in clips:
            try:
                facts = model.frames.begin(clip)
            except UnreadableClip:
                continue
            started = time.monotonic()
            ask_prediction(model, clip, facts, self._task, self._timeout_s(self._task.limits.load_s), [])
            model.forget(model.frames.end().gone)
            self._excused = not model.process.alive
            return time.monotonic() - started
        return None

    def _ask(self, query: Query, limits: PassLimits) -> Answer:
        seconds: dict[str, float] = {}
        model, shown, task = self.model, query.shown, self._task
        problems: list[Problem] = []
        explanation = None
        try:
            facts = model.frames.begin(shown)
        except UnreadableClip as error:
            return self._undecoded(shown, [CAUSES["clip"].as_problem("data", shown.clip_id, found=error)], seconds)
        call: Stage = "predict"
        limit_s, started = self._timeout_s(limits.call_s), time.monotonic()
        prediction = ask_prediction(model, shown, facts, task, limit_s, problems)
        if query.explains and prediction is not None:
            seconds[call], call = time.monotonic() - started, "explain"
            limit_s, started = self._timeout_s(limits.call_s), time.monotonic()
            explanation = ask_explanation(model, facts, task, limit_s, prediction, problems)
        # Readings that a call leaves open belong to it, and take time to close.
        end = model.frames.end()
        seconds[call] = time.monotonic() - started
        model.forget(end.gone)
        if seconds[call] > limit_s and (explanation or call == "predict") and prediction is not None:
            problems.append(CAUSES["open readings"].as_problem(call, call, limit_s=limit_s))
            prediction, explanation = (None if call == "predict" else prediction), None
        if limits.counts:
            problems += [CAUSES["clip"].as_problem("data", shown.clip_id, found=fault) for fault in end.faults]
        if end.faults:
            return self._undecoded(shown, problems, seconds)
        return Answer(prediction, explanation, tuple(problems), seconds)

    def _undecoded(self, shown: ClipSource, problems: list[Problem], seconds: dict[str, float]) -> Answer:
        """Leave out a clip that cannot be decoded; if it can be once the model has ended, the model has failed."""
        self.model.stop()  # frees the resources it took
        check_unchanged(shown, named=not self._hidden)
        others = () if shown.alteration is None else shown.alteration.files
        cause = CAUSES["decoder" if can_decode(shown.path, others) else "clip"]
        self._excused = cause.follows == "excused"
        # What a model raises over such a clip is not its fault, nor is it the clip's what a model takes from decoding.
        whose = "organiser" if self._excused else "participant"
        kept = tuple(problem for problem in problems if problem.fault == whose)
        if self._excused:
            return Answer(problems=kept, seconds=seconds, unreadable=True)
        return Answer(problems=(*kept, cause.as_problem("predict", "predict")), seconds=seconds)
