"""One model process, asked one question at a time and restarted when it dies."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ingest.clips.footage import check_unchanged
from ingest.errors import Problem
from ingest.lanes.asker import Answer, Loaded, Restarts
from ingest.media.frame_server import AHEAD_CLIPS
from ingest.media.video import UnreadableClip, is_readable
from ingest.model.asking import CallResult, ask_explanation, ask_prediction
from ingest.model.process import LoadFailed

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from ingest.clock import Clock
    from ingest.lanes.asker import Asking, Pass, Work
    from ingest.media.clip import ClipSource
    from ingest.model.process import ModelProcess
    from ingest.settings import Task
    from model_process.sandbox import Isolated

TELLING_S = 0.2
"""A shorter call does not show how many cores a model keeps busy, seconds."""
_SPOILED = ("what decoding needs: threads or memory", "room for the decoder", "start fewer threads, use less memory")


class Lane:
    """Queries one model; see `Asker`."""

    workers = 1

    def __init__(self, model: ModelProcess, task: Task, clock: Clock, *, hidden: bool, beside: bool = False) -> None:
        """Prepare to query a model.

        Parameters
        ----------
        hidden
            Whether messages must not name clips.
        beside
            Whether other lanes run beside this one. It then looks only one question ahead, since no other lane can
            take a clip that this one has fetched. It does not count restarts either: only `Lanes`, which sees all
            answers in order, can tell which restart is the last.
        """
        self._model, self._task, self._clock, self._hidden = model, task, clock, hidden
        self._frames = model.frames
        self._ahead = 1 if beside else AHEAD_CLIPS + 1
        self._restarts = None if beside else Restarts(task.limits.restarts, model.name, model.survivor)
        # Whether the model was ended through no fault of its own.
        self._spared = False
        self._longest_s = 0.0
        self._began = time.monotonic()
        self.explains, self.runs_code, self.faster = model.explains, model.runs_code, model.faster
        self.stopped_by: Problem | None = None

    @property
    def restarts(self) -> int:
        """See `Asker.restarts`."""
        return self._restarts.count if self._restarts else 0

    @property
    def held(self) -> Isolated | None:
        """See `Asker.held`."""
        return self._model.process.held

    @property
    def refused(self) -> Counter[str]:
        """See `Asker.refused`."""
        return self._model.process.refused

    @property
    def waited_s(self) -> float:
        """See `Asker.waited_s`."""
        return self._model.process.waited_s

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """See `Asker.start`."""
        started = time.monotonic()
        self._start()
        load_s = time.monotonic() - started
        used_s = self._model.process.used_s()
        warm_up_s = self._warm_up(clips) if self.runs_code else None
        cores = (self._model.process.used_s() - used_s) / max(warm_up_s or 0.0, TELLING_S)
        return Loaded(self._model.loaded, load_s, warm_up_s, self._model.alone, max(1.0, cores))

    def start_afresh(self, *, alone: bool = False) -> bool:
        """See `Asker.start_afresh`."""
        try:
            self._start()
        except LoadFailed:
            return False
        return True

    def has_time_to_start(self) -> bool:
        """See `Asker.has_time_to_start`."""
        return self._clock.left_s() >= self._task.limits.load_s + self._longest_s

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """See `Asker.ask`."""
        coming = ((work, place) for work in works for place in range(len(work.askings)))
        window = deque(islice(coming, self._ahead))
        while window and self.may_go_on(how):
            work, place = window.popleft()
            window.extend(islice(coming, 1))
            ahead = [later.askings[number].shown for later, number in window]
            yield work, place, self.answer(work.askings[place], ahead, how)

    def may_go_on(self, how: Pass) -> bool:
        """Tell whether another question can be asked; restart the model if it is dead."""
        self.stopped_by, self._began = None, time.monotonic()
        if self._clock.left_s() < self._longest_s + (0.0 if self._model.process.alive else how.spare_s):
            return False
        if not self._model.process.alive:
            self.stopped_by = None if self._spared or self._restarts is None else self._restarts.one_more()
            if self.stopped_by is None:
                try:
                    self._start()
                except LoadFailed as failure:
                    self.stopped_by = failure.problem
        return self.stopped_by is None

    def answer(self, asking: Asking, ahead: Sequence[ClipSource], how: Pass) -> Answer:
        """Ask one question; call `may_go_on` first.

        Parameters
        ----------
        ahead
            The clips that will probably be shown next.

        Raises
        ------
        IngestionError
            When the machine is at fault.
        """
        answer = self._answer(asking, ahead, how)
        took_s = time.monotonic() - self._began
        self._longest_s = max(self._longest_s, took_s)
        return replace(answer, died=not self._model.process.alive and not self._spared, took_s=took_s)

    def rest(self) -> None:
        """End the model's process; it can be started again."""
        self._model.stop()

    def kill(self) -> None:
        """Kill the model's process, so that any call ends soon. Safe to call from another thread."""
        self._model.process.kill()

    def remarks(self) -> list[Problem]:
        """See `Asker.remarks`."""
        return self._model.remarks()

    def output(self) -> bytes:
        """See `Asker.output`."""
        return self._model.process.output

    def stop(self) -> None:
        """See `Asker.stop`."""
        self._model.stop()
        self._frames.close()

    def _start(self) -> None:
        self._spared = False
        self._model.start(self._timeout_s(self._task.limits.load_s))

    def _warm_up(self, clips: Sequence[ClipSource]) -> float | None:
        """Make an uncounted first call: it often compiles or loads something, which no clip should be charged for."""
        for clip in clips:
            try:
                facts = self._frames.begin(clip, [])
            except UnreadableClip:
                continue
            started = time.monotonic()
            ask_prediction(
                self._model, clip, facts, self._task, self._timeout_s(self._task.limits.load_s), CallResult()
            )
            self._model.forget(self._frames.end(model_lives=self._model.process.alive).gone)
            self._spared = not self._model.process.alive
            return time.monotonic() - started
        return None

    def _answer(self, asking: Asking, ahead: Sequence[ClipSource], how: Pass) -> Answer:
        seconds: dict[str, float] = {}
        shown, asked = asking.shown, CallResult()
        try:
            facts = self._frames.begin(shown, ahead)
        except UnreadableClip as error:
            return self._undecoded(shown, [_unreadable(shown, str(error))], seconds, how)
        started = time.monotonic()
        ask_prediction(self._model, shown, facts, self._task, self._timeout_s(how.call_s), asked)
        seconds["predict"] = time.monotonic() - started
        if asking.explains and asked.prediction is not None:
            started = time.monotonic()
            ask_explanation(self._model, facts, self._task, self._timeout_s(how.call_s), asked)
            seconds["explain"] = time.monotonic() - started
        end = self._frames.end(model_lives=self._model.process.alive)
        self._model.forget(end.gone)
        problems = asked.problems + [_unreadable(shown, fault) for fault in end.faults if how.counts]
        if end.unreadable:
            return self._undecoded(shown, problems, seconds, how)
        return Answer(asked.prediction, asked.explanation, tuple(problems), seconds)

    def _undecoded(self, shown: ClipSource, problems: list[Problem], seconds: dict[str, float], how: Pass) -> Answer:
        """Leave out a clip that cannot be decoded; if it can be once the model has ended, the model has failed."""
        check_unchanged(shown, named=not self._hidden)
        if not how.counts:
            return Answer(problems=tuple(problems), seconds=seconds, unreadable=True)
        self._model.stop()  # frees the resources it took
        if not is_readable(shown.path):
            self._spared = True
            return Answer(problems=tuple(problems), seconds=seconds, unreadable=True)
        mine = [problem for problem in problems if problem.fault == "participant"]
        spoiled = Problem("too_much", "predict", "predict", *_SPOILED)
        return Answer(problems=(*mine, spoiled), seconds=seconds)

    def _timeout_s(self, limit_s: float) -> float:
        return min(limit_s, max(1.0, self._clock.left_s()))


def _unreadable(clip: ClipSource, fault: str) -> Problem:
    fix = "replace the file; `bundle check` finds such clips before the upload"
    return Problem("clip_unreadable", "data", clip.clip_id, fault, "a clip that decodes", fix, fault="organiser")
