"""Runs the scoring program over a case of the factory, in this process; one test starts it as the worker does."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

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
_PARSED: dict[str, bytes] = {}


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait until every byte is on the disk, thousands of times; runs as a process still do."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class _Remembering(yaml.SafeLoader):
    """Remembers what the factory's settings say: to parse them takes as long as to score four clips."""

    def __init__(self, text: Any) -> None:  # noqa: ANN401 - whatever PyYAML reads
        super().__init__(text)
        self._text = text

    def get_single_node(self) -> yaml.Node | None:
        if not isinstance(self._text, str) or not self._text.startswith("format_version: 1\ntask: "):
            return super().get_single_node()
        if self._text not in _PARSED:
            _PARSED[self._text] = pickle.dumps(super().get_single_node())
        node: yaml.Node = pickle.loads(_PARSED[self._text])  # noqa: S301 - our own
        return node


@pytest.fixture(autouse=True)
def _settings_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "SafeLoader", _Remembering)


@pytest.fixture
def score(tmp_path: Path) -> Score:
    """Write a case, optionally spoil the folder, and score it."""

    def run(case: Case, spoil: Callable[[Path], object] = lambda root: None) -> Outcome:
        root = make_input(tmp_path / "input", case)
        spoil(root)
        return run_scoring(root, tmp_path / "output")

    return run
