"""A bundle with few clips, a model that crashes on some of them, and what `bundle run` makes of it."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import yaml

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.cli.main import main
from bundle_tools.codabench.build import NAME, PROGRAMS
from bundle_tools.evaluation import answers_of
from tests import ROOT
from tests.fewer import copy_with

if TYPE_CHECKING:
    from collections.abc import Callable

STAGES = ("first pass", "asked again", "second pass", "copies asked again")
# What it does follows from the pixels, altered or not.
MODEL = """\
import os, time
import numpy as np

class Model:
    def __init__(self, assets): pass

    def predict(self, clip):
        frames = np.stack(list(clip.frames(count=4, size=(32, 18))))
        time.sleep(0.05)  # so that a killer finds every stage
        if int(frames.mean() * 1e4) % 9 == 1:
            os._exit(3)
        return dict.fromkeys({targets}, float(frames.mean()) / 255)

    def explain(self, clip, prediction):
        space = next(clip.frames(count=1, size=(64, 36))).mean(axis=2)
        return {{"text": f"A text of {{max(prediction.values()):.5f}} letters.", "evidence": {{"space": space}}}}
"""


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle with few clips, a seal's key, and more restarts; not to be changed."""
    folder = copy_with(ROOT, tmp_path_factory.mktemp("few") / "bundle", 3, *TOP_LEVEL)
    for program in PROGRAMS:
        (folder / program / NAME).write_text("5a" * 32)
    settings = folder / "input_data" / "practice" / "task.yaml"
    content = yaml.safe_load(settings.read_text())
    content["limits"] |= {"restarts": 50}
    settings.write_text(yaml.safe_dump(content))
    return folder


@pytest.fixture(scope="session")
def crashing(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission that crashes on some clips; not to be changed."""
    settings = yaml.safe_load((bundle / "input_data" / "practice" / "task.yaml").read_text())
    folder = tmp_path_factory.mktemp("submission") / "crashing"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL.format(targets=[target["name"] for target in settings["targets"]]))
    return folder


@pytest.fixture(scope="session")
def one_run(bundle: Path, crashing: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `bundle run` leaves of it."""
    out = tmp_path_factory.mktemp("one") / "run"
    assert main(["run", str(crashing), "--bundle", str(bundle), "--phase", "practice", "--out", str(out)]) == 0
    assert len(answers_of(out)) >= 4
    return out


def call(bundle: Path, out: Path, *words: object) -> list[str]:
    """Return the words of `bundle evaluate`."""
    return ["evaluate", *map(str, words), "--bundle", str(bundle), "--phase", "practice", "--out", str(out)]


def evaluations() -> dict[int, str]:
    """Return the process ids of all evaluations on this machine, with the folders that they write."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if words[:1] == [sys.executable] and "bundle_tools.evaluation" in words:
                found[process.pid] = words[-1]
    return found


def stage_of(folder: Path) -> str | None:
    """Return the stage that the evaluation in a folder has reached; None before the first one."""
    reached = None
    for path in folder.rglob(".record-*"):
        sizes = {name: (path / name) for name in ("clips.jsonl", "repeats.jsonl", "probes.jsonl")}
        texts = {name: file.read_text("utf-8") if file.is_file() else "" for name, file in sizes.items()}
        for stage, begun in zip(
            STAGES,
            (
                texts["clips.jsonl"],
                texts["repeats.jsonl"],
                texts["probes.jsonl"],
                '"again":true' in texts["probes.jsonl"],
            ),
            strict=True,
        ):
            reached = stage if begun else reached
    return reached


def wait_for(condition: Callable[[], object], limit_s: float = 120) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
