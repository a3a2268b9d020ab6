"""Hands work to workers until all of it has a result: with losses, the time left, and one driver a folder."""

import fcntl
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import psutil

from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.executors import GONE, TRIES, DaskWorkers, LocalWorkers

TOLD_EVERY_S, PAUSE_S = 10.0, 0.1


class Job(Protocol):
    """A piece of work; every path in it exists on all machines that may do it."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def alive(self) -> str:
        """File that the driver touches as long as it lives."""


AnyJob = TypeVar("AnyJob", bound=Job)


@contextmanager
def at_work(out: Path, alive: Path, command: str) -> Iterator[None]:
    """Keep other drivers away from a folder; work ends when `alive` is gone. `command`: of these drivers."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BundleError(f"{out}: another `bundle {command}` is at work here.") from None
        _sweep(out)
        alive.touch()
        try:
            yield
        finally:
            alive.unlink(missing_ok=True)
            _sweep(out)


def _sweep(out: Path) -> None:
    """Remove what killed processes have left behind."""
    for folder in out.glob(".*-*"):
        shutil.rmtree(folder, ignore_errors=True)


class Driver(Generic[AnyJob]):
    """Hands jobs to workers until each has a result, and tells how far all is."""

    def __init__(
        self, pool: LocalWorkers | DaskWorkers, work: Callable[[AnyJob], dict[str, Any]], noun: str = "evaluations"
    ) -> None:
        """Prepare for jobs.

        `work`: does one job, and returns `lines` to print, `problems`, and `took_s`, seconds. `noun`: of several jobs.
        """
        self._pool, self._work, self._noun = pool, work, noun
        self._running: dict[Future[dict[str, Any]], tuple[AnyJob, int]] = {}
        self._total = self._done = self._lost = 0
        self._took_s = 0.0
        self._problems: list[str] = []

    def run(self, jobs: Sequence[AnyJob]) -> list[str]:
        """Do all, printing the lines of each as they come; return what went wrong."""
        self._total = len(jobs)
        for job in jobs:
            self._submit(job, 1)
        told_s = time.monotonic()
        try:
            while self._running:
                for future in wait(self._running, 1.0, FIRST_COMPLETED).done:
                    self._take(future, *self._running.pop(future))
                if self._running and time.monotonic() - told_s > TOLD_EVERY_S:
                    told_s = time.monotonic()
                    Path(jobs[0].alive).touch()
                    say(self._line(self._pool.check(done=self._done)))
        except BaseException:
            while wait(self._running, PAUSE_S).not_done:
                for future in self._running:
                    future.cancel()
                _end_children()
            raise
        return self._problems

    def _submit(self, job: AnyJob, attempt: int) -> None:
        self._running[self._pool.executor.submit(self._work, job)] = job, attempt

    def _take(self, future: "Future[dict[str, Any]]", job: AnyJob, attempt: int) -> None:
        """Print the result of a job, or begin it again."""
        try:
            result = future.result()
        except CancelledError:
            raise BundleError(GONE) from None
        except BundleError as error:
            self._problems.append(f"{job.name}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a worker died of
            self._lost += 1
            died = type(error).__name__ == "KilledWorker"  # Dask has begun it several times already
            if attempt < TRIES and not died:
                say(f"{job.name} is lost, and will be tried again: {error}")
                self._submit(job, attempt + 1)
                return
            reason = "its workers died; were time and memory enough?" if died else str(error)
            self._problems.append(f"{job.name}: was lost {TRIES} times, at last: {reason}")
        else:
            self._took_s += result["took_s"]
            self._problems += result["problems"]
            if result["lines"]:
                say("\n".join(["", job.name, *result["lines"]]))
        self._done += 1

    def _line(self, waiting: str) -> str:
        left = self._total - self._done
        running = min(left, self._pool.slots)
        hours, minutes = divmod(round(self._took_s / max(1, self._done) * left / max(1, running) / 60), 60)
        time_left = f"about {hours}:{minutes:02d} h left" if self._took_s and running else "time left unknown"
        line = f"{self._noun}: {self._done} of {self._total} done, {running} running, {self._lost} lost; {time_left}"
        return f"{line}; {waiting}" if waiting else line


def _end_children() -> None:
    """End all work on this machine."""
    for child in psutil.Process().children():
        try:
            if any(word.startswith("bundle_tools.") for word in child.cmdline()):
                child.terminate()
        except psutil.Error:
            continue
