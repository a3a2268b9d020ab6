"""A small phase, a model that crashes on some clips, and their evaluation."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bundle_tools.cluster.drive import Driver
from bundle_tools.cluster.plan import Plan, make
from bundle_tools.codabench.competition import Task
from tests.guides import fork_programs
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import PROGRAM, Outcome, run_program, write_phase
from tests.ingestion.lanes.test_same_bytes import MODEL
from tests.ingestion.probes.test_second_pass import probing

if TYPE_CHECKING:
    from collections.abc import Callable

MADE: dict[str, Any] = {"image": None, "network": False, "workers": 2, "clips": 3}


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards are forks of a warm process: for tests that neither kill nor look at them."""
    fork_programs(monkeypatch)


def task_of(input_data: Path, program: Path = PROGRAM) -> Task:
    """Return the task of a phase; there is nothing to score."""
    return Task("test", None, program, input_data, None, (), ingestion_only_during_scoring=False)


@pytest.fixture(scope="session")
def small_phase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six short clips, one of which cannot be decoded; not to be changed."""
    folder = tmp_path_factory.mktemp("phase")
    form = Format(fps=10, rate=16_000)
    good = [write_clip(folder / f"{number}.mp4", 20 + number, form) for number in range(5)]
    (folder / "bad.mp4").write_bytes(b"no video" * 100)
    settings = probing()
    limits = {**settings["limits"], "memory_mb": 512, "restarts": 30}
    settings |= {"limits": limits}
    return write_phase(folder / "input", [*good[:2], folder / "bad.mp4", *good[2:]], settings)


@pytest.fixture(scope="session")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission that dies on some clips and raises on others, altered or not; not to be changed."""
    folder = tmp_path_factory.mktemp("submission")
    (folder / "model.py").write_text(MODEL.format(of=9, dies="(1,)", raises="(2, 3)", hangs="()"))
    return folder


@pytest.fixture(scope="session")
def sealing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ingestion program with a seal's key, as in a built bundle."""
    folder = tmp_path_factory.mktemp("sealing") / "program"
    shutil.copytree(PROGRAM, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "seal.key").write_text("5a" * 32)
    return folder


@pytest.fixture(scope="session")
def one_run(sealing: Path, small_phase: Path, crashing: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What a single run of the same leaves."""
    folder = tmp_path_factory.mktemp("one")
    copy = shutil.copytree(sealing, folder / "program")  # it loses its key
    return run_program(small_phase, crashing, folder / "output", copy)


def drive(plan: Plan, task: Task, verify: int = 0) -> Driver:
    """Bring a plan to its end with two workers; return the driver."""
    with ThreadPoolExecutor(2) as pool:
        driver = Driver(pool, 2)
        [error] = driver.run([(plan, task)], verify)
    if error is not None:
        raise error
    return driver


@pytest.fixture
def planned(small_phase: Path, crashing: Path, tmp_path: Path) -> Callable[..., tuple[Plan, Task]]:
    """Make a plan of the small phase, whose first stage is cut."""

    def planned(folder: str = "plan", submission: Path = crashing) -> tuple[Plan, Task]:
        task = task_of(small_phase)
        plan = make(tmp_path / folder, task, submission, MADE)
        plan.step(task)
        return plan, task

    return planned
