"""What runs shards: this machine's cores, or a cluster through Dask."""

import importlib
import logging
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.console import say
from bundle_tools.errors import BundleError


@contextmanager
def executor(workers: int, scheduler: str | None = None, slurm: Path | None = None) -> Iterator[Executor]:
    """Return what runs shards while the block runs.

    Parameters
    ----------
    scheduler
        Address of a Dask scheduler.
    slurm
        File with the arguments of dask-jobqueue's `SLURMCluster`.

    Raises
    ------
    BundleError
        When there is no Dask, no scheduler, or no such file.
    """
    if scheduler is None and slurm is None:
        with ThreadPoolExecutor(workers) as pool:
            yield pool
        return
    with nullcontext(scheduler) if slurm is None else _jobs(slurm, workers) as cluster:
        try:
            client = _package("distributed").Client(cluster)
        except (OSError, ValueError) as error:
            raise BundleError(f"no scheduler answers: {error}. Check its address, and that it runs.") from error
        # Losses are told in one line each, not with Dask's tracebacks.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        with client:
            say(f"Dashboard: {client.dashboard_link}")
            # The driver itself counts the tries.
            yield client.get_executor(pure=False, retries=0)


def _jobs(path: Path, workers: int) -> Any:  # noqa: ANN401 - of a package that may be missing
    """Return a cluster of Slurm jobs, as many as there are workers."""
    try:
        options = load_bounded(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"--slurm {path}: cannot be read: {error}.") from None
    if not isinstance(options, dict):
        raise BundleError(f"--slurm {path}: expected the arguments of SLURMCluster, such as `queue: cpu`.")
    try:
        cluster = _package("dask_jobqueue").SLURMCluster(**{"cores": 1, "processes": 1, **options})
    except (TypeError, ValueError) as error:
        raise BundleError(f"--slurm {path}: {error}.") from None
    cluster.scale(jobs=workers)
    return cluster


def _package(name: str) -> Any:  # noqa: ANN401 - of an extra that few need
    try:
        return importlib.import_module(name)
    except ImportError:
        missing = "--scheduler and --slurm need Dask, which is not installed: `make setup WITH=cluster`."
        raise BundleError(missing) from None
