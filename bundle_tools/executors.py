"""What runs evaluations: threads of this machine, the workers of a Dask scheduler, or Slurm jobs."""

import importlib
import logging
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.console import say
from bundle_tools.errors import BundleError

TRIES = 3
"""How often an evaluation is begun before it counts as lost."""
LOST_S = 15.0
"""After so long a lost worker is forgotten, and another takes its place, seconds."""
JOIN_S, REFUSED_S = 600.0, 60.0
"""The command ends if for so long no worker has joined a scheduler, or no job of Slurm could ever start, seconds."""
WAITS = (
    *("None", "Resources", "Priority", "BeginTime", "Dependency", "Licenses", "Prolog", "Cleaning", "Reservation"),
    *("ReqNodeNotAvail", "Nodes_required", "QOSMax", "QOSGrp", "AssocMax", "AssocGrp", "MaxJobs"),
)
"""How the reasons begin for which a job of Slurm waits but will start; with any other it never will."""
GONE = "the scheduler has gone away. Nothing is lost: call again to go on."


class LocalWorkers:
    """Threads of this machine; each waits for the process of one evaluation."""

    def __init__(self, count: int) -> None:
        self.executor: Executor = ThreadPoolExecutor(count)
        self._count = count

    def models(self, evaluations: int) -> int:
        """Return how many model processes each of several evaluations may have."""
        return max(1, len(os.sched_getaffinity(0)) // min(self._count, evaluations))

    @property
    def slots(self) -> int:
        """How many evaluations run at the same time now."""
        return self._count

    def check(self, *, done: int) -> str:
        """Return what the workers wait for, or nothing; `done`: evaluations that have ended so far.

        Raises
        ------
        BundleError
            When nothing will ever run.
        """
        return ""


class DaskWorkers:
    """The workers of a Dask scheduler; each thread of theirs runs one evaluation."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - of a package that may be missing
        self._client = client
        # Losses are told in one line each, not with Dask's tracebacks.
        for name in ("client", "scheduler"):
            logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
        self.executor: Executor = client.get_executor(pure=False, retries=0)
        self._joined_s = time.monotonic()

    @property
    def _workers(self) -> list[dict[str, Any]]:
        if self._client.status != "running":
            raise BundleError(GONE)
        return list(self._client.scheduler_info(n_workers=-1)["workers"].values())

    def models(self, evaluations: int) -> int:
        """See `LocalWorkers.models`; a thread stands for one core."""
        workers = self._workers
        threads = min((worker["nthreads"] for worker in workers), default=1)
        return max(1, threads // -(-evaluations // max(1, len(workers))))

    @property
    def slots(self) -> int:
        """See `LocalWorkers.slots`."""
        return sum(worker["nthreads"] for worker in self._workers)

    def check(self, *, done: int) -> str:
        """See `LocalWorkers.check`."""
        if self.slots:
            self._joined_s = time.monotonic()
            return ""
        if time.monotonic() - self._joined_s > JOIN_S:
            raise BundleError(f"no worker has joined the scheduler for {JOIN_S / 60:.0f} minutes. Start some.")
        return "waiting for workers"


class SlurmWorkers(DaskWorkers):
    """Slurm jobs, each a Dask worker; those that end too early are replaced, and told."""

    def __init__(self, client: Any, cluster: Any, jobs: int, cores: int, name: str, logs: Path) -> None:  # noqa: ANN401
        super().__init__(client)
        self._cluster, self._jobs, self._cores, self._name, self._logs = cluster, jobs, cores, name, logs
        self._known: set[str] = set()
        self._ended: dict[str, float] = {}  # job -> when that was noticed
        self._in_vain = self._done = 0
        cluster.scale(jobs=jobs)

    def models(self, evaluations: int) -> int:
        """See `LocalWorkers.models`; the jobs may not have started yet."""
        return max(1, self._cores // -(-evaluations // self._jobs))

    def check(self, *, done: int) -> str:
        """See `LocalWorkers.check`; submit new jobs for those that have ended."""
        # Only ids: whoever holds one of Dask's jobs when the cluster ends makes it fail.
        ids = {name: job.job_id for name, job in list(self._cluster.workers.items()) if job.job_id}
        self._known |= set(ids.values())
        queue = self._queue()
        if queue is None:  # Slurm's controller is away; running jobs go on
            return "" if self.slots else "waiting for Slurm to answer"
        self._in_vain = 0 if done > self._done else self._in_vain
        self._done = done
        if ended := sorted(self._known - queue.keys() - self._ended.keys()):
            states = ", ".join(f"{job}: {self._state(job)}" for job in ended)
            say(f"{len(ended)} of {self._jobs} jobs ended ({states}); submitting another for each. Logs: {self._logs}")
            self._ended |= dict.fromkeys(ended, time.monotonic())
            self._in_vain += len(ended)
        for name, job in ids.items():
            # Dask forgets workers that were lost after LOST_S, but waits for ever for jobs that never became workers.
            if time.monotonic() - self._ended.get(job, math.inf) > 1.5 * LOST_S:
                self._cluster.workers.pop(name, None)
        if self._in_vain > TRIES * self._jobs:
            raise BundleError(f"{self._in_vain} jobs ended before one evaluation did. {self._logs} tells why.")
        self._cluster.scale(jobs=self._jobs)
        if self.slots or any(reason == "" for reason in queue.values()):
            self._joined_s = time.monotonic()
            return "" if self.slots else "waiting for the workers of jobs that have started"
        reasons = ", ".join(sorted(set(queue.values())))
        pending = f"PENDING ({reasons})" if queue else f"none is in the queue; see {self._logs}"
        if time.monotonic() - self._joined_s > REFUSED_S and not any(r.startswith(WAITS) for r in queue.values()):
            raise BundleError(f"no job has started: {pending}. Correct the file of --slurm.")
        return f"waiting for jobs: {pending}"

    def _queue(self) -> dict[str, str] | None:
        """Return the reason for which each job in the queue waits, "" for those that run; None without an answer."""
        asked = _call("squeue", "--noheader", "--name", self._name, "--format", "%i|%T|%r")
        if asked is None or asked.returncode != 0:
            return None
        rows = [line.strip().split("|") for line in asked.stdout.splitlines() if line.count("|") == 2]
        return {job: reason if state == "PENDING" else "" for job, state, reason in rows}

    def _state(self, job: str) -> str:
        asked = _call("scontrol", "show", "job", job)
        words = asked.stdout.split() if asked is not None else []
        return next((word.partition("=")[2] for word in words if word.startswith("JobState=")), "no longer known")


@contextmanager
def workers_of(
    count: int, scheduler: str | None, slurm: Path | None, out: Path
) -> Iterator[LocalWorkers | DaskWorkers]:
    """Yield what runs evaluations.

    Parameters
    ----------
    count
        Threads of this machine, or jobs of Slurm.
    scheduler
        Address of a Dask scheduler.
    slurm
        File with the arguments of dask-jobqueue's `SLURMCluster`.
    out
        Folder for the results, with one for the logs of jobs; its name becomes part of the jobs'.

    Raises
    ------
    BundleError
        When there is no Dask, no scheduler, or no such file, or when Slurm refuses the jobs.
    """
    if scheduler is None and slurm is None:
        local = LocalWorkers(count)
        with local.executor:
            yield local
        return
    distributed = _package("distributed")
    if slurm is None:
        try:
            client = distributed.Client(scheduler)
        except (OSError, ValueError) as error:
            raise BundleError(f"no scheduler answers: {error}. Check its address, and that it runs.") from error
        with client:
            say(f"Dashboard: {client.dashboard_link}")
            yield DaskWorkers(client)
        return
    # Importing it makes Ctrl-C a silent success, so an interruption waits until the handler is back.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        jobqueue = _package("dask_jobqueue")
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    settings = {"scheduler.allowed-failures": TRIES - 1, "deploy.lost-worker-timeout": f"{LOST_S} s"}
    importlib.import_module("dask").config.set({f"distributed.{key}": value for key, value in settings.items()})
    logs = (out / "jobs").absolute()
    logs.mkdir(parents=True, exist_ok=True)
    name = f"bundle-{out.resolve().name}-{os.getpid()}"
    options = _options(slurm, {"job_name": name, "log_directory": str(logs), "shared_temp_directory": str(logs)})
    try:
        cluster = jobqueue.SLURMCluster(**options)
    except (TypeError, ValueError, ImportError, OSError) as error:
        raise BundleError(f"--slurm {slurm}: {str(error).partition(' in the SLURMCluster')[0]}.") from None
    with cluster:
        _check_job(slurm, cluster.job_script())
        with distributed.Client(cluster) as client:
            say(f"Dashboard: {client.dashboard_link}")
            yield SlurmWorkers(client, cluster, count, options["cores"] // options["processes"], name, logs)


def _options(path: Path, own: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `SLURMCluster` that a file names, with defaults and what is ours."""
    try:
        options = load_bounded(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"--slurm {path}: cannot be read: {error}.") from None
    if not isinstance(options, dict):
        raise BundleError(f"--slurm {path}: expected the arguments of SLURMCluster, such as `queue: cpu`.")
    if not isinstance(options.get("walltime"), str):
        # Without quotes, YAML reads 12:00:00 as 43200, which Slurm takes for minutes; the default is half an hour.
        raise BundleError(f'--slurm {path}: walltime: expected a time in quotes, such as "04:00:00".')
    if not isinstance(options.get("memory"), str):
        raise BundleError(f"--slurm {path}: memory: expected that of a job, models included, such as 8GB.")
    options = {"cores": 1, "processes": 1, "security": True, **options, **own}
    options["scheduler_options"] = {"dashboard_address": ":0", **(options.get("scheduler_options") or {})}
    for key in ("cores", "processes"):
        if type(options[key]) is not int or options[key] < 1:
            raise BundleError(f"--slurm {path}: {key}: expected a whole number, found {options[key]!r}.")
    return options


def _check_job(path: Path, script: str) -> None:
    """Let Slurm look at a job without submitting it; raise BundleError with what it says against it."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script)
        file.flush()
        asked = _call("sbatch", "--test-only", file.name)
    if asked is None:
        raise BundleError(f"--slurm {path}: there is no sbatch on this machine.")
    if asked.returncode != 0:
        reason = (asked.stderr.strip() or "refused, and no reason given").splitlines()[0]
        raise BundleError(f"--slurm {path}: {reason.replace('sbatch: error: ', 'sbatch: ')}.")


def _call(*words: str) -> "subprocess.CompletedProcess[str] | None":
    """Call a program of Slurm; None if there is none, or it does not answer."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - no shell
    except (OSError, subprocess.TimeoutExpired):
        return None


def _package(name: str) -> Any:  # noqa: ANN401 - of an extra that few need
    try:
        return importlib.import_module(name)
    except ImportError:
        missing = "--scheduler and --slurm need Dask, which is not installed: `make setup WITH=cluster`."
        raise BundleError(missing) from None
