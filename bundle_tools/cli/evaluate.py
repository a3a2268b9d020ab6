"""`bundle evaluate`: submissions side by side on this machine, or on a cluster, with the results of `bundle run`."""

import argparse
import fcntl
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from bundle_tools.cli.options import add_command, add_engine, add_path, add_trust, count, positive, workers
from bundle_tools.codabench.competition import Competition, opened
from bundle_tools.codabench.trust import code_of, ensure_trusted
from bundle_tools.codabench.worker.run import MARKER, refuse_what_is_elsewhere
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.evaluation import EvaluationTask, answers_of, evaluate, key_of
from bundle_tools.executors import GONE, TRIES, DaskWorkers, LocalWorkers, workers_of

ENDING = """\
Each submission gets a folder in DIR as `bundle run` makes it. Called again after a stop, it evaluates only those
without a good result. docs/scaling.md tells when a cluster pays, and what it needs:

  Slurm       --slurm FILE --workers 16
              FILE is YAML with the arguments of dask-jobqueue's SLURMCluster, such as
              {queue: cpu, memory: 8GB, walltime: "04:00:00"}; each worker is a job.
  SSH         dask ssh --nworkers 2 --nthreads 1 HOST1 HOST2
              --scheduler tcp://HOST1:8786
  Kubernetes  A DaskCluster of Dask's operator, whose workers have your image, this checkout and a shared volume.
              In a pod with the same volume: --scheduler tcp://NAME-scheduler:8786
"""
TOLD_EVERY_S, PAUSE_S = 10.0, 0.1
JOBS = "jobs"
"""Folder for the logs of Slurm jobs."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = add_command(
        commands, "evaluate", "Evaluate submissions side by side, with the results of `bundle run`.",
        "one.zip two.zip --phase final --out evaluated\nmy_submission --out evaluated --verify 1", ENDING,
    )  # fmt: skip
    add_path(parser, "submissions", "SUBMISSION", "a folder with model.py, or its zip", nargs="+")
    add_path(parser, "--out", "DIR", "results of all", required=True)
    parser.add_argument(
        "--verify", metavar="K", type=count, default=0, help="evaluate K drawn submissions again, and compare"
    )
    parser.add_argument("--phase", metavar="PHASE", help="default: practice, else the first phase")
    add_path(parser, "--bundle", "PATH", "folder or zip (default: this folder, else the checkout)")
    add_trust(parser)
    add_engine(parser)
    parser.add_argument("--workers", metavar="N", type=positive, default=workers(),
                        help="submissions at the same time; jobs of Slurm (default: this machine's cores)")  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="evaluate on the workers of a Dask scheduler")
    add_path(where, "--slurm", "FILE", "evaluate in Slurm jobs")
    parser.set_defaults(action=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out.absolute()
    names = [path.resolve().stem for path in arguments.submissions]
    if len({*names, JOBS}) <= len(names):
        raise BundleError(f"expected submissions with names of their own, other than `{JOBS}`: each gets a folder.")
    for name in names:
        if (out / name).exists() and not (out / name / MARKER).is_file():
            raise BundleError(f"--out {out / name}: contains files of something else. Choose another folder.")
    with opened(arguments.bundle, trust=arguments.trust) as competition:
        evaluations = _planned(competition, arguments, out, names)
    with (
        _at_work(out, Path(evaluations[0].alive)),
        workers_of(arguments.workers, arguments.scheduler, arguments.slurm, out) as pool,
    ):
        models = pool.models(len(evaluations))
        evaluations = [replace(evaluation, models=models) for evaluation in evaluations]
        problems = _Driver(pool).run(evaluations)
        if arguments.verify and not problems:
            problems = _verify(pool, random.SystemRandom().sample(evaluations, min(arguments.verify, len(names))))
    if problems:
        raise BundleError("; ".join(problems))
    return 0


def _planned(
    competition: Competition, arguments: argparse.Namespace, out: Path, names: Sequence[str]
) -> list[EvaluationTask]:
    phase = competition.phase(arguments.phase) if arguments.phase else competition.default_phase()
    refuse_what_is_elsewhere(competition.root, phase)
    ensure_trusted(code_of(phase.tasks))
    image = (arguments.image or competition.docker_image) if arguments.engine == "docker" else None
    bundle = arguments.bundle.absolute() if arguments.bundle else competition.root
    return [
        EvaluationTask(
            submission=str(path.absolute()),
            bundle=str(bundle),
            phase=phase.slug,
            out=str(out / name),
            image=image,
            network=arguments.network,
            models=1,
            key=key_of(competition, phase, path, image),
            alive=str(out / ".driver"),
        )
        for path, name in zip(arguments.submissions, names, strict=True)
    ]


@contextmanager
def _at_work(out: Path, alive: Path) -> Iterator[None]:
    """Keep other drivers away from a folder; evaluations end when `alive` is gone."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BundleError(f"{out}: another `bundle evaluate` is at work here.") from None
        _sweep(out)
        alive.touch()
        try:
            yield
        finally:
            alive.unlink(missing_ok=True)
            _sweep(out)


def _sweep(out: Path) -> None:
    """Remove what killed evaluations have left behind."""
    for folder in out.glob(".*-*"):
        shutil.rmtree(folder, ignore_errors=True)


class _Driver:
    """Hands evaluations to workers until each has a result, and tells how far all is."""

    def __init__(self, pool: LocalWorkers | DaskWorkers) -> None:
        self._pool = pool
        self._running: dict[Future[dict[str, Any]], tuple[EvaluationTask, int]] = {}
        self._total = self._done = self._lost = 0
        self._took_s = 0.0
        self._problems: list[str] = []

    def run(self, evaluations: Sequence[EvaluationTask]) -> list[str]:
        """Evaluate all, printing each row as it comes; return what went wrong."""
        self._total = len(evaluations)
        for evaluation in evaluations:
            self._submit(evaluation, 1)
        told_s = time.monotonic()
        try:
            while self._running:
                for future in wait(self._running, 1.0, FIRST_COMPLETED).done:
                    self._take(future, *self._running.pop(future))
                if self._running and time.monotonic() - told_s > TOLD_EVERY_S:
                    told_s = time.monotonic()
                    Path(evaluations[0].alive).touch()
                    say(self._line(self._pool.check(done=self._done)))
        except BaseException:
            while wait(self._running, PAUSE_S).not_done:
                for future in self._running:
                    future.cancel()
                _end_children()
            raise
        return self._problems

    def _submit(self, evaluation: EvaluationTask, attempt: int) -> None:
        self._running[self._pool.executor.submit(evaluate, evaluation)] = evaluation, attempt

    def _take(self, future: "Future[dict[str, Any]]", evaluation: EvaluationTask, attempt: int) -> None:
        """Print the result of an evaluation, or begin it again."""
        try:
            result = future.result()
        except CancelledError:
            raise BundleError(GONE) from None
        except BundleError as error:
            self._problems.append(f"{evaluation.name}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a worker died of
            self._lost += 1
            crashed = type(error).__name__ == "KilledWorker"  # Dask has begun it several times already
            if attempt < TRIES and not crashed:
                say(f"{evaluation.name} is lost, and will be evaluated again: {error}")
                self._submit(evaluation, attempt + 1)
                return
            reason = "its workers died; were time and memory enough?" if crashed else str(error)
            self._problems.append(f"{evaluation.name}: was lost {TRIES} times, at last: {reason}")
        else:
            self._took_s += result["took_s"]
            self._problems += result["problems"]
            say("\n".join(["", evaluation.name, *result["lines"]]))
        self._done += 1

    def _line(self, waiting: str) -> str:
        left = self._total - self._done
        running = min(left, self._pool.slots)
        hours, minutes = divmod(round(self._took_s / max(1, self._done) * left / max(1, running) / 60), 60)
        time_left = f"about {hours}:{minutes:02d} h left" if self._took_s and running else "time left unknown"
        line = f"evaluations: {self._done} of {self._total} done, {running} running, {self._lost} lost; {time_left}"
        return f"{line}; {waiting}" if waiting else line


def _verify(pool: LocalWorkers | DaskWorkers, evaluations: Sequence[EvaluationTask]) -> list[str]:
    """Evaluate submissions again elsewhere; return those whose answers differ."""
    out = Path(evaluations[0].out).parent
    with tempfile.TemporaryDirectory(prefix=".verify-", dir=out) as folder:
        again = [replace(evaluation, out=str(Path(folder) / evaluation.name)) for evaluation in evaluations]
        if problems := _Driver(pool).run(again):
            return problems
        for first, second in zip(evaluations, again, strict=True):
            first_run, second_run = answers_of(Path(first.out)), answers_of(Path(second.out))
            if names := sorted(
                name for name in first_run.keys() | second_run.keys() if first_run.get(name) != second_run.get(name)
            ):
                problems.append(
                    f"evaluation_differs: {first.name}: a second run gave other answers ({', '.join(names[:3])}). The "
                    "model keeps state between clips, or the machines are not alike."
                )
    say(f"{len(evaluations)} evaluated again, {len(evaluations) - len(problems)} with the same answers")
    return problems


def _end_children() -> None:
    """End all evaluations on this machine."""
    for child in psutil.Process().children():
        try:
            if "bundle_tools.evaluation" in child.cmdline():
                child.terminate()
        except psutil.Error:
            continue
