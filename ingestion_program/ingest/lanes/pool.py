"""Several models side by side, each queried from its own thread. Answers come in the order a single model would give.

Answers that a single model could not have given, because it would have used up its restarts, are discarded.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from ingest.confined.processor import cores
from ingest.errors import Problem
from ingest.lanes.asker import Answer, Restarts
from ingest.model.process import ModelProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ingest.lanes.asker import Loaded, Pass, Work
    from ingest.lanes.lane import Lane
    from ingest.media.clip import ClipSource
    from ingest.settings import Limits
    from model_process.sandbox import Isolated

CALM = 2.0
"""Safety factor: models run side by side only if the first call, slowed by this factor times the number of models,
would still meet the call's time limit."""
PAUSE_S = 0.05

End = Exception | Problem | None
"""Why a lane stopped before it finished its work: an error in this program, a problem that stopped the model, or None
when time ran out."""


@dataclass(frozen=True)
class _Taken:
    """A clip's work that a lane has taken."""

    work: Work
    said: SimpleQueue[Answer | End] = field(default_factory=SimpleQueue)
    """The answers one by one, or why there are no more."""


class _Course:
    """One pass: each lane takes the next clip's work as soon as it is free."""

    def __init__(self, works: Iterable[Work]) -> None:
        self.over = Event()
        """Set when no more answers are wanted."""
        self._works = iter(works)
        self._turn = Lock()
        self._order: SimpleQueue[_Taken | Exception | None] = SimpleQueue()

    def works(self, mine: deque[_Taken]) -> Iterator[Work]:
        """Yield the work of one lane, clip by clip; unfinished work is kept in `mine`."""
        while (taken := self._take()) is not None:
            mine.append(taken)
            yield taken.work

    def taken(self) -> Iterator[_Taken]:
        """Yield everything that lanes take, in the original order."""
        while (taken := self._order.get()) is not None:
            if isinstance(taken, Exception):
                raise taken
            yield taken

    def _take(self) -> _Taken | None:
        with self._turn:
            try:
                work = None if self.over.is_set() else next(self._works, None)
            except Exception as error:  # noqa: BLE001 - raised again in its turn
                self._order.put(error)
                return None
            taken = None if work is None else _Taken(work)
            self._order.put(taken)
            return taken


class Lanes:
    """Queries several models; see `Asker`."""

    explains = runs_code = True
    faster = ModelProcess.faster

    def __init__(self, lanes: Sequence[Lane], limits: Limits) -> None:
        """Use lanes made with `beside=True`."""
        self._lanes = list(lanes)
        self._limits = limits
        # The kernel kills a model when the thread that started it exits.
        self._threads = [ThreadPoolExecutor(1) for _ in lanes]
        self._tasks: list[Future[Any]] = []
        self._starts: list[Future[Any]] = []
        self._asked: set[int] = set()
        self._course = _Course(())
        self._restarts = Restarts(limits.restarts, ModelProcess.name, ModelProcess.survivor)
        self._died = False
        self.stopped_by: Problem | None = None

    @property
    def restarts(self) -> int:
        """See `Asker.restarts`; counts those that a single model would have needed."""
        return self._restarts.count

    @property
    def workers(self) -> int:
        """See `Asker.workers`."""
        return max(1, len(self._asked))

    @property
    def held(self) -> Isolated | None:
        """See `Asker.held`."""
        return self._lanes[0].held

    @property
    def refused(self) -> Counter[str]:
        """See `Asker.refused`."""
        return sum((lane.refused for lane in self._lanes), Counter[str]())

    @property
    def waited_s(self) -> float:
        """See `Asker.waited_s`; the longest wait of any model."""
        return max(lane.waited_s for lane in self._lanes)

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """See `Asker.start`. The first model's first call decides how many others may run beside it."""
        self._starts = [self._submit(0, self._lanes[0].start, clips)]
        loaded: Loaded = self._starts[0].result()
        calm = CALM * len(self._lanes) * (loaded.warm_up_s or 0.0) <= self._limits.call_s
        most = round(max(cores(), len(self._lanes)) / loaded.cores)
        kept = max(1, most) if calm and not loaded.alone else 1
        for lane in self._lanes[kept:]:
            lane.stop()
        del self._lanes[kept:]
        for number, lane in enumerate(self._lanes[1:], 1):
            self._starts.append(self._submit(number, lane.start, clips))
        return loaded

    def start_afresh(self, *, alone: bool = False) -> bool:
        """See `Asker.start_afresh`. All old processes have ended before the first new one starts."""
        self._settle()
        for lane in self._lanes:
            lane.rest()
        self._died = False
        awake = self._lanes[: 1 if alone else None]
        self._starts = [self._submit(number, lane.start_afresh) for number, lane in enumerate(awake)]
        return bool(self._starts[0].result())

    def has_time_to_start(self) -> bool:
        """See `Asker.has_time_to_start`."""
        return all(lane.has_time_to_start() for lane in self._lanes)

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """See `Asker.ask`."""
        self.stopped_by = None
        self._course = course = _Course(works)
        for number in range(len(self._starts)):
            self._submit(number, self._serve, number, course, how)
        try:
            for taken in course.taken():
                for place in range(len(taken.work.askings)):
                    if self._died and (gone := self._restarts.one_more()) is not None:
                        self.stopped_by = gone
                        return
                    self._died = False
                    said = taken.said.get()
                    if isinstance(said, Exception):
                        raise said
                    if not isinstance(said, Answer):
                        self.stopped_by = said
                        return
                    self._died = said.died
                    yield taken.work, place, said
        finally:
            course.over.set()

    def remarks(self) -> list[Problem]:
        """See `Asker.remarks`."""
        return self._lanes[0].remarks()

    def output(self) -> bytes:
        """See `Asker.output`; the models' outputs, joined."""
        return b"".join(lane.output() for lane in self._lanes)

    def stop(self) -> None:
        """See `Asker.stop`."""
        self._settle()
        for lane in self._lanes:
            lane.stop()
        for thread in self._threads:
            thread.shutdown()

    def _submit(self, number: int, do: Callable[..., Any], *arguments: object) -> Future[Any]:
        task = self._threads[number].submit(do, *arguments)
        self._tasks.append(task)
        return task

    def _serve(self, number: int, course: _Course, how: Pass) -> None:
        """Query one model, in its thread, until no work is left."""
        start = self._starts[number]
        if number > 0 and (start.exception() is not None or start.result() is False):
            # The first model has loaded, and a run does not depend on the others.
            return
        self._asked.add(number)
        mine: deque[_Taken] = deque()
        end: End
        try:
            for work, place, answer in self._lanes[number].ask(course.works(mine), how):
                mine[0].said.put(answer)
                if place + 1 == len(work.askings):
                    mine.popleft()
                if course.over.is_set():
                    return
            end = self._lanes[number].stopped_by
        except Exception as error:  # noqa: BLE001 - raised again in its turn
            end = error
        for taken in mine:
            taken.said.put(end)

    def _settle(self) -> None:
        """Wait until no lane is busy, and abandon unanswered questions."""
        self._course.over.set()
        while wait(self._tasks, PAUSE_S).not_done:
            for lane in self._lanes:
                lane.kill()
        self._tasks.clear()
