"""Evaluations through Dask, whose worker processes are killed, leave the bytes of a single run."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from bundle_tools import executors
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from bundle_tools.executors import DaskWorkers
from tests import ROOT
from tests.evaluation.conftest import call
from tests.evaluation.test_evaluate import check_killed_in_every_stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="DASK NOT TESTED: `make setup WITH=cluster` installs it"
)


@contextmanager
def two_workers(address: str, folder: Path) -> Iterator[None]:
    """Keep two Dask workers alive."""
    over = Event()

    def start() -> subprocess.Popen[bytes]:
        # Without Dask's own guards: on a busy machine they give up after some deaths, and nobody is left to work.
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)

    def keep() -> None:
        workers = [start() for _ in range(2)]
        while not over.wait(0.05):
            workers = [worker if worker.poll() is None else start() for worker in workers]
        for worker in workers:
            worker.kill()
            worker.wait()

    keeper = Thread(target=keep)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


@needs_dask
@pytest.mark.slow
def test_workers_killed_in_every_stage_change_no_byte(
    bundle: Path, crashing: Path, one_run: Path, tmp_path: Path
) -> None:
    def kill(pid: int) -> None:
        os.kill(psutil.Process(pid).ppid(), signal.SIGKILL)

    with (
        importlib.import_module("distributed").LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        two_workers(cluster.scheduler_address, tmp_path),
    ):
        options = ("--scheduler", cluster.scheduler_address)
        check_killed_in_every_stage(bundle, crashing, one_run, tmp_path, kill, *options)


@needs_dask
def test_a_scheduler_without_workers_ends_the_command(
    bundle: Path, crashing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "JOIN_S", 0.1)
    monkeypatch.setattr("bundle_tools.driver.TOLD_EVERY_S", 0.2)
    with importlib.import_module("distributed").LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        assert main(call(bundle, tmp_path / "out", crashing, "--scheduler", cluster.scheduler_address)) == 1
    assert "bundle: no worker has joined the scheduler for 0 minutes" in capsys.readouterr().err


def test_submissions_share_the_threads_of_workers() -> None:
    for threads, submissions, models in (([], 3, 1), ([1, 1], 9, 1), ([8, 8], 1, 8), ([8, 8], 4, 4), ([8, 4], 3, 2)):
        workers = {str(number): {"nthreads": count} for number, count in enumerate(threads)}
        client = SimpleNamespace(
            status="running",
            get_executor=lambda **_: None,
            scheduler_info=lambda info=workers, **_: {"workers": info},
        )
        known = DaskWorkers(client)
        assert known.models(submissions) == models
        assert known.slots == sum(threads)
        client.status = "closed"
        with pytest.raises(BundleError, match="the scheduler has gone away"):
            known.check(done=0)


def test_without_dask_the_command_says_what_to_install(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], crashing: Path, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(call(bundle, tmp_path / "out", crashing, "--scheduler", "tcp://127.0.0.1:1")) == 1
    assert "need Dask, which is not installed: `make setup WITH=cluster`" in capsys.readouterr().err
