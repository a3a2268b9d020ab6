"""A pool of model workers, whose answers come in the order in which a single model would give them.

This is the one place that knows the rules of restarts. Answers that a single model could not have given, because it
would have used up its restarts, are discarded: a run leaves the same bytes with any number of workers.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from ingest.capacity import cores
from ingest.causes import CAUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ingest.errors import Problem
    from ingest.media.alteration import ClipSource
    from ingest.settings import Limits
    from ingest.workers import Answer, ClipTask, Loaded, ModelWorker, PassLimits
    from model_process.sandbox import Isolated

CALM = 2.0
"""Safety factor: models run side by side only if the first call, slowed by this factor times the number of models,
would still meet the call's time limit."""
PAUSE_S = 0.05


class TakenTask:
    """A task that a worker has taken."""

    def __init__(self, task: ClipTask) -> None:
        self.task = task
        self.result: Future[tuple[list[Answer], Problem | None]] = Future()
        """The answers, and why there are fewer than queries: a problem, or None when time ran out."""


class TaskQueue:
    """The tasks of one pass: each worker takes the next one as soon as it is free."""

    def __init__(self, tasks: Iterable[ClipTask]) -> None:
        self.over = Event()
        """Set when no more answers are wanted."""
        self._tasks = iter(tasks)
        self._turn = Lock()
        self._order: SimpleQueue[TakenTask | Exception | None] = SimpleQueue()

    def take(self) -> TakenTask | None:
        """Return the next task; None if there is none, or making it failed."""
        with self._turn:
            try:
                task = None if self.over.is_set() else next(self._tasks, None)
            except Exception as error:  # noqa: BLE001 - raised again in its turn
                self._order.put(error)
                return None
            taken = None if task is None else TakenTask(task)
            self._order.put(taken)
            return taken

    def in_order(self, take: Callable[[], object] | None = None) -> Iterator[TakenTask]:
        """Yield all tasks in their order once they are taken; `take` takes the next one if no thread does."""
        while True:
            if take is not None and self._order.empty():
                take()
            taken = self._order.get()
            if isinstance(taken, Exception):
                raise taken
            if taken is None:
                return
            yield taken


class WorkerPool:
    """Workers side by side, each in a thread of its own; a single one works in the caller's thread."""

    def __init__(self, workers: Sequence[ModelWorker], limits: Limits) -> None:
        self._workers = list(workers)
        self._limits = limits
        self._single = len(self._workers) == 1
        # The kernel kills a model when the thread that started it exits: each thread lives as long as the pool.
        self._threads = [] if self._single else [ThreadPoolExecutor(1) for _ in workers]
        self._running: list[Future[Any]] = []
        self._starts: list[Future[Any]] = []
        self._asked: set[int] = set()
        self._queue = TaskQueue(())
        self._crashed = False
        self.restarts = 0
        """How often a crashed model was restarted, or would have been if it were a single one."""
        self.stopped_by: Problem | None = None
        """Why the last pass ended early; None if time ran out."""
        model = self._workers[0].model
        self.explains, self.runs_code, self.faster = model.explains, model.runs_code, model.faster
        """Whether explanations and altered copies can be asked for, and the advice when time runs out."""

    @property
    def workers(self) -> int:
        """The largest number of processes that ran the model side by side."""
        return max(1, len(self._asked))

    @property
    def isolation(self) -> Isolated | None:
        """How the model is isolated; None before the first start."""
        return self._workers[0].model.process.isolation

    @property
    def refused(self) -> Counter[str]:
        """How often each system call was refused, by name; that of a single model keeps counting."""
        if self._single:
            return self._workers[0].model.process.refused
        return sum((worker.model.process.refused for worker in self._workers), Counter[str]())

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """Load the model; see `ModelWorker.start`. Its first call decides how many others may run beside it."""
        self._starts = [self._call(0, self._workers[0].start, clips)]
        loaded: Loaded = self._starts[0].result()
        calm = CALM * len(self._workers) * (loaded.warm_up_s or 0.0) <= self._limits.call_s
        most = round(max(cores(), len(self._workers)) / loaded.cores)
        kept = max(1, most) if calm and not loaded.alone else 1
        for worker in self._workers[kept:]:
            worker.close()
        del self._workers[kept:]
        for number, worker in enumerate(self._workers[1:], 1):
            self._starts.append(self._call(number, worker.start, clips))
        return loaded

    def start_afresh(self, *, alone: bool = False) -> bool:
        """Load the model in new processes, or in a single one if `alone`; return whether that worked.

        All old processes have ended before the first new one starts.
        """
        self._settle()
        for worker in self._workers:
            worker.model.stop()
        self._crashed = False
        awake = self._workers[: 1 if alone else None]
        self._starts = [self._call(number, worker.start_afresh) for number, worker in enumerate(awake)]
        return bool(self._starts[0].result())

    def has_time_to_start(self) -> bool:
        """Tell whether there is time to load the model and ask one query."""
        return all(worker.has_time_to_start() for worker in self._workers)

    def ask(self, tasks: Iterable[ClipTask], limits: PassLimits) -> Iterator[tuple[ClipTask, int, Answer]]:
        """Yield each task, the index of a query in it, and the answer, in the order of `tasks`.

        Raises
        ------
        IngestionError
            When the machine is at fault.
        """
        self.stopped_by = None
        self._queue = queue = TaskQueue(tasks)
        for number in [] if self._single else range(len(self._starts)):
            self._call(number, self._serve, number, queue, limits)
        try:
            for taken in queue.in_order(queue.take if self._single else None):
                answers: list[Answer] = []
                for index in range(len(taken.task.queries)):
                    if self._crashed and self.restarts >= self._limits.restarts:
                        model, where = self._workers[0].model, "the remaining clips"
                        self.stopped_by = CAUSES["restarts"].as_problem(
                            "run", where, name=model.name, survivor=model.survivor
                        )
                        return
                    self.restarts += self._crashed
                    self._crashed = False
                    if index == 0:
                        if self._single:  # only now: the record of a clip is complete before the next one begins
                            self._work_on(self._workers[0], taken, limits)
                        answers, self.stopped_by = taken.result.result()
                    if index == len(answers):
                        return
                    self._crashed = answers[index].crashed
                    yield taken.task, index, answers[index]
        finally:
            queue.over.set()

    def remarks(self) -> list[Problem]:
        """Return warnings about the submission as a whole."""
        return self._workers[0].model.remarks()

    def output(self) -> bytes:
        """Return the end of what each model printed, joined."""
        return b"".join(worker.model.process.output for worker in self._workers)

    def stop(self) -> None:
        """End all processes."""
        self._settle()
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.shutdown()

    def _call(self, number: int, do: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Call a function in a worker's thread."""
        if not self._single:
            self._running.append(self._threads[number].submit(do, *arguments))
            return self._running[-1]
        future: Future[Any] = Future()
        try:
            future.set_result(do(*arguments))
        except Exception as error:  # noqa: BLE001 - raised again by the future
            future.set_exception(error)
        return future

    def _serve(self, number: int, queue: TaskQueue, limits: PassLimits) -> None:
        """Let one worker take tasks, in its thread, until none is left."""
        start = self._starts[number]
        if number > 0 and (start.exception() is not None or start.result() is False):
            # The first model has loaded, and a run does not depend on the others.
            return
        self._asked.add(number)
        while (taken := queue.take()) is not None and self._work_on(self._workers[number], taken, limits):
            pass

    def _work_on(self, worker: ModelWorker, taken: TakenTask, limits: PassLimits) -> bool:
        """Answer a task; return whether the worker can go on."""
        try:
            answers = worker.answer(taken.task, limits, self._limits.restarts - self.restarts)
        except Exception as error:  # noqa: BLE001 - raised again in its turn
            taken.result.set_exception(error)
            return False
        taken.result.set_result((answers, worker.stopped_by))
        return len(answers) == len(taken.task.queries) and not self._queue.over.is_set()

    def _settle(self) -> None:
        """Wait until no worker is busy, and abandon unanswered queries."""
        self._queue.over.set()
        while wait(self._running, PAUSE_S).not_done:
            for worker in self._workers:
                worker.model.process.kill()
        self._running.clear()
