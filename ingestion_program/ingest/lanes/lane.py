"""One model process that is asked question after question, and started again where it has died."""

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
"""A call that takes less tells nothing of the cores that a model keeps busy, seconds."""
_SPOILED = ("what decoding needs: threads or memory", "room for the decoder", "start fewer threads, use less memory")


class Lane:
    """Asks one model; see `Asker`."""

    workers = 1

    def __init__(self, model: ModelProcess, task: Task, clock: Clock, *, hidden: bool, beside: bool = False) -> None:
        """Take whether messages must not name clips, as `hidden`.

        One of several `beside` each other looks no farther ahead than to its next clip, which no other can take then.
        It counts no restarts: which one is the last is seen where all answers come together.
        """
        self._model, self._task, self._clock, self._hidden = model, task, clock, hidden
        self._frames = model.frames
        self._ahead = 1 if beside else AHEAD_CLIPS + 1
        self._restarts = None if beside else Restarts(task.limits.restarts, model.name, model.survivor)
        # Whether it was ended for no fault of its own.
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
        """Tell whether another question can be asked; a model that has died is started again."""
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
        """Ask one question, where `may_go_on` says so.

        Parameters
        ----------
        ahead
            What will probably be shown next.

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
        """End the model until it is started again."""
        self._model.stop()

    def kill(self) -> None:
        """Have whatever is under way end soon; for other threads."""
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
        """Ask once without counting it: a first call often compiles or loads, which is no clip's own time."""
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
            ask_explanation(self._model, shown, facts, self._task, self._timeout_s(how.call_s), asked)
            seconds["explain"] = time.monotonic() - started
        end = self._frames.end(model_lives=self._model.process.alive)
        self._model.forget(end.gone)
        problems = asked.problems + [_unreadable(shown, fault) for fault in end.faults if how.counts]
        if end.unreadable:
            return self._undecoded(shown, problems, seconds, how)
        return Answer(asked.prediction, asked.explanation, tuple(problems), seconds)

    def _undecoded(self, shown: ClipSource, problems: list[Problem], seconds: dict[str, float], how: Pass) -> Answer:
        """Leave a clip out that cannot be decoded; where only the model kept it from being decoded, it has failed."""
        check_unchanged(shown, named=not self._hidden)
        if not how.counts:
            return Answer(problems=tuple(problems), seconds=seconds, unreadable=True)
        self._model.stop()  # gives back what it took
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
