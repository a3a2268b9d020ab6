"""An evaluation through Dask, whose worker processes are killed, leaves the bytes of a single run."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

import psutil
import pytest

from bundle_tools.cli.main import main
from bundle_tools.cluster.clusters import executor
from bundle_tools.cluster.drive import Driver
from bundle_tools.cluster.plan import make
from bundle_tools.errors import BundleError
from tests.cluster.conftest import MADE, task_of
from tests.cluster.test_losses import STAGES, programs
from tests.ingestion.conftest import Outcome
from tests.ingestion.lanes.test_same_bytes import what_counts

if TYPE_CHECKING:
    from pathlib import Path

    from bundle_tools.cluster.plan import Plan

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="DASK NOT TESTED: `make setup WITH=cluster` installs it"
)


def start_worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a Dask worker."""
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_workers(plan: Plan, over: Event, killed: list[str], address: str, folder: Path) -> None:
    """Keep two Dask workers alive, but kill that which runs the first shard of every stage, with SIGKILL."""
    # Not Dask's own guards: on a busy machine they give up after some deaths, and nobody is left to work.
    workers = [start_worker(address, folder) for _ in range(2)]
    while not over.wait(0.01):
        workers = [one if one.poll() is None else start_worker(address, folder) for one in workers]
        for program in programs(plan):
            with suppress(psutil.Error, ProcessLookupError):
                words = " ".join(program.cmdline())
                for stage in STAGES:
                    if f"/.{stage}-" in words and stage not in killed:
                        killed.append(stage)
                        os.kill(program.ppid(), signal.SIGKILL)
    for worker in workers:
        worker.kill()
        worker.wait()


@needs_dask
@pytest.mark.slow
def test_workers_killed_in_every_stage_change_no_byte(
    small_phase: Path, crashing: Path, sealing: Path, one_run: Outcome, tmp_path: Path
) -> None:
    task = task_of(small_phase, sealing)
    plan = make(tmp_path / "plan", task, crashing, MADE)
    over, killed = Event(), list[str]()
    with importlib.import_module("distributed").LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        killer = Thread(target=kill_workers, args=(plan, over, killed, cluster.scheduler_address, tmp_path))
        killer.start()
        try:
            with executor(2, cluster.scheduler_address) as pool:
                assert Driver(pool, 2).run([(plan, task)]) == [None]
        finally:
            over.set()
            killer.join()
    assert set(killed) == set(STAGES)
    assert what_counts(Outcome(0, plan.merged, "")) == what_counts(one_run)


def test_without_dask_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], crashing: Path, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["evaluate", str(crashing), "--out", str(tmp_path / "out"), "--scheduler", "tcp://127.0.0.1:1"]) == 1
    assert "need Dask, which is not installed: `make setup WITH=cluster`" in capsys.readouterr().err


@needs_dask
def test_a_wrong_file_for_slurm_is_told(tmp_path: Path) -> None:
    (tmp_path / "slurm.yaml").write_text("- queue")
    with (
        pytest.raises(BundleError, match="expected the arguments of SLURMCluster"),
        executor(2, None, tmp_path / "slurm.yaml"),
    ):
        pass
    with pytest.raises(BundleError, match="cannot be read"), executor(2, None, tmp_path / "none.yaml"):
        pass
