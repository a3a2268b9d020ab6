"""Drive evaluations: plan, run what is missing, merge; on this machine or through an executor of a cluster."""

import os
import random
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path

import psutil

from bundle_tools.cluster.plan import Plan, Shard
from bundle_tools.cluster.shard import ShardDiffers, answers_sha256, elapsed_s, run_shard
from bundle_tools.codabench.competition import Task
from bundle_tools.console import say
from bundle_tools.errors import BundleError

TRIES = 3
TOLD_EVERY_S, PAUSE_S = 10.0, 0.1


class Tally:
    """Counts shards, for people who wait."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._turn = threading.Lock()
        self._took_s = 0.0
        self._total = self._done = self._lost = 0

    def add(self, *, total: int = 0, done: int = 0, lost: int = 0, took_s: float = 0.0) -> None:
        """Change the counts."""
        with self._turn:
            self._total += total
            self._done += done
            self._lost += lost
            self._took_s += took_s

    def line(self) -> str:
        """Return how far all is; the time left is that of the stages that are planned."""
        with self._turn:
            left = self._total - self._done
            hours, minutes = divmod(round(self._took_s / max(1, self._done) * left / self._workers / 60), 60)
            time_left = f"about {hours}:{minutes:02d} h left in these stages" if self._done else "time left unknown"
            running = min(left, self._workers)
            return f"shards: {self._done} of {self._total} done, {running} running, {self._lost} lost; {time_left}"


class Driver:
    """Evaluates submissions; each one waits for its own stages, while all of them share the workers."""

    def __init__(self, pool: Executor, workers: int) -> None:
        """Take what runs shards, and how many it runs at the same time."""
        self._pool = pool
        self.tally = Tally(workers)
        self._over = threading.Event()
        # Planning happens here, and fills a core.
        self._planning = threading.Semaphore(os.cpu_count() or 1)
        self._submitted: set[Future[None]] = set()

    def run(self, plans: Sequence[tuple[Plan, Task]], verify: int = 0) -> list[BundleError | None]:
        """Bring every plan to its merged record; return what went wrong with each.

        Parameters
        ----------
        verify
            How many shards of each are run again and compared.
        """
        planning = ThreadPoolExecutor(max(1, len(plans)))
        try:
            waiting = [planning.submit(self._complete, plan, task, verify) for plan, task in plans]
            while wait(waiting, TOLD_EVERY_S).not_done:
                say(self.tally.line())
        except BaseException:
            self._over.set()
            while wait(waiting, PAUSE_S).not_done:
                for future in list(self._submitted):
                    future.cancel()
                _end_children()
            raise
        finally:
            planning.shutdown()
        return [error_of(future) for future in waiting]

    def _complete(self, plan: Plan, task: Task, verify: int) -> None:
        with plan.held(sweep=True):
            while not plan.merged.exists():
                if not plan.missing():
                    with self._planning:
                        plan.step(task)
                self._run_all(plan, plan.missing(), plan.done)
            if verify:
                drawn = plan.cut()
                random.SystemRandom().shuffle(drawn)
                self._verify(plan, drawn[:verify])

    def _run_all(self, plan: Plan, shards: Sequence[Shard], out: Path) -> None:
        """Run shards until each has a result; one that is lost three times ends it."""
        self.tally.add(total=len(shards))
        running = {self._submit(plan, shard, out): (shard, 1) for shard in shards}
        try:
            self._wait(plan, running, out)
        finally:
            for future in running:  # those that need not run any more
                future.cancel()

    def _wait(self, plan: Plan, running: "dict[Future[None], tuple[Shard, int]]", out: Path) -> None:
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                (stage, index), tries = running.pop(future)
                try:
                    future.result()
                    self.tally.add(done=1, took_s=elapsed_s(out / f"{stage}-{index}"))
                except ShardDiffers:
                    raise
                except CancelledError:
                    running.clear()  # there is nobody to cancel the others
                    gone = "the scheduler has gone away. Nothing is lost: call again to go on."
                    raise BundleError(f"{plan.folder.name}: {gone}") from None
                except Exception as error:
                    self.tally.add(lost=1)
                    if self._over.is_set():
                        raise
                    if tries == TRIES:
                        raise BundleError(
                            f"{plan.folder.name}: shard {stage} {index} was lost {TRIES} times, at last: {error}"
                        ) from error
                    say(f"{plan.folder.name}: shard {stage} {index} is lost, and will be run again: {error}")
                    running[self._submit(plan, (stage, index), out)] = (stage, index), tries + 1

    def _submit(self, plan: Plan, shard: Shard, out: Path) -> "Future[None]":
        future = self._pool.submit(run_shard, plan.folder, *shard, out, plan.key(*shard))
        self._submitted.add(future)
        future.add_done_callback(self._submitted.discard)
        return future

    def _verify(self, plan: Plan, shards: Sequence[Shard]) -> None:
        with tempfile.TemporaryDirectory(prefix=".verify-", dir=plan.folder) as folder:
            self._run_all(plan, shards, Path(folder))
            differ = [
                f"{stage} {index}"
                for stage, index in shards
                if answers_sha256(Path(folder) / f"{stage}-{index}") != answers_sha256(plan.done / f"{stage}-{index}")
            ]
        if differ:
            raise BundleError(
                f"shard_differs: {plan.folder.name}: a second run of {', '.join(differ)} gave other answers. "
                "The model keeps state between clips, or the machines are not alike."
            )
        say(f"{plan.folder.name}: {len(shards)} shards run again, all with the same answers")


def error_of(future: "Future[None]") -> BundleError | None:
    """Return what went wrong; an error of this program is raised."""
    error = future.exception()
    if error is None or isinstance(error, BundleError):
        return error
    raise error


def _end_children() -> None:
    """End the programs of all shards that run on this machine."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
