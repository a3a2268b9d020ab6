"""Runs the scoring program over a case of the factory, in this process; one test starts it as the worker does."""

import contextlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from score.pipeline import main
from tests.scoring.factory import Case, make_input


@dataclass(frozen=True)
class Outcome:
    """What the program left."""

    code: int
    out: Path
    log: str

    @property
    def scores(self) -> dict[str, float]:
        loaded: dict[str, float] = json.loads((self.out / "scores.json").read_text())
        return loaded

    @property
    def page(self) -> str:
        return (self.out / "detailed_results.html").read_text()


def run_scoring(source: Path, target: Path) -> Outcome:
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        code = main([str(source), str(target)])
    return Outcome(code, target, log.getvalue())


Score = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait until every byte is on the disk, thousands of times; runs as a process still do."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def score(tmp_path: Path) -> Score:
    """Write a case, optionally spoil the folder, and score it."""

    def run(case: Case, spoil: Callable[[Path], object] = lambda root: None) -> Outcome:
        root = make_input(tmp_path / "input", case)
        spoil(root)
        return run_scoring(root, tmp_path / "output")

    return run
