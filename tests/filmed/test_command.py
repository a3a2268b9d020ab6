"""`bundle data exchanges` from files to exchanges, figures and a page; and again, when only what is missing is made."""

import base64
import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from bundle_tools.apart import Lost
from bundle_tools.cli import filmed as command
from bundle_tools.cli.main import main
from bundle_tools.filmed import features, measure
from bundle_tools.filmed import job as module
from bundle_tools.filmed.job import Job, exchange
from bundle_tools.filmed.sheet import FILE as SHEET
from bundle_tools.filmed.sheet import write_sheet
from bundle_tools.phase_data.files import enter
from bundle_tools.phase_data.pictures import small_jpeg
from tests import ROOT
from tests.filmed.drawn import Known, draw
from tests.scoring.browser import chromium

SPLIT = {"practice": 2, "final": 1}
"""Clips of each phase; the last one of Practice is too short."""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of drawn clips that look filmed."""
    root = tmp_path / "bundle"
    task = {"index": 0, "name": "T", "description": "d", "ingestion_program": "i/", "scoring_program": "s/"}
    tasks, phases = [], []
    for index, (phase, count) in enumerate(SPLIT.items()):
        inputs, reference = (root / folder / phase for folder in ("input_data", "reference_data"))
        (inputs / "clips").mkdir(parents=True)
        reference.mkdir(parents=True)
        rows = []
        for number in range(count):
            drawn = draw(number + 10 * index, 3.0 if (phase, number) == ("practice", 1) else 8.0, 48)
            clip = f"c{index}{number}"
            (inputs / "clips" / f"{clip}.mp4").write_bytes(drawn.content)
            DRAWN[drawn.content] = drawn.points
            rows.append((clip, f"clips/{clip}.mp4", hashlib.sha256(drawn.content).hexdigest()))
        for table, header, lines in (
            (inputs / "clips.csv", ("clip_id", "file", "sha256"), rows),
            (reference / "labels.csv", ("clip_id", "source_id", "interview"), [(row[0], row[0], 0.5) for row in rows]),
        ):
            with table.open("w", newline="") as text:
                csv.writer(text).writerows([header, *lines])
        for side in (inputs, reference):
            (side / "task.yaml").write_text(f"task: {phase}\nclips: clips.csv\ndata_version: mine-1\n")
        data = {"input_data": f"input_data/{phase}/", "reference_data": f"reference_data/{phase}/"}
        tasks.append({**task, **data, "index": index})
        day = f"2030-0{index + 1}"
        phases.append(
            {"index": index, "name": phase.title(), "start": f"{day}-01", "end": f"{day}-20", "tasks": [index]}
        )
    for folder in ("i", "s", "public_data"):
        (root / folder).mkdir()
    (root / "public_data/t1.mp4").write_bytes(draw(0).content)  # a training clip
    board = {"index": 0, "title": "R", "key": "r", "columns": [{"index": 0, "title": "S", "key": "skill"}]}
    content = {"version": 2, "title": "T", "tasks": tasks, "phases": phases, "leaderboards": [board]}
    (root / "competition.yaml").write_text(yaml.safe_dump(content))
    return root


DRAWN: dict[bytes, Any] = {}
MADE: dict[str, tuple[dict[str, Any], list[bytes]]] = {}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make clips in this process, whose tracker knows the landmarks of drawn faces; list what is made."""
    names: list[str] = []

    def make(job: Job) -> dict[str, Any]:
        names.append(job.clip_id)
        content = (Path(job.folder) / job.file).read_bytes()
        monkeypatch.setattr(module, "Tracker", lambda _: Known(DRAWN[content]))
        paths = [Path(job.folder) / file for file in (job.first, job.second)]
        if job.key not in MADE:  # once for all tests
            result = exchange(job)
            MADE[job.key] = result, [path.read_bytes() for path in paths if path.exists()]
        result, files = MADE[job.key]
        for target, file in zip(paths, files, strict=False):
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file)
        Path(job.out).parent.mkdir(parents=True, exist_ok=True)
        Path(job.out).write_text(json.dumps(result))
        return result

    monkeypatch.setattr(command, "make", make)
    monkeypatch.setattr(command, "models_folder", lambda: Path("models"))
    monkeypatch.setattr(measure, "RESAMPLES", 20)
    monkeypatch.setattr(features, "MOST_FRAMES", 36)
    return names


def call(bundle: Path) -> int:
    return main(["data", "exchanges", "--bundle", str(bundle), "--seed", "7", "--workers", "1"])


@pytest.mark.slow
def test_a_set_goes_end_to_end_and_only_what_is_missing_is_made_again(
    bundle: Path, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(bundle) == 0
    told = capsys.readouterr().out
    assert sorted(made) == ["c00", "c01", "c10"]
    assert "practice, clip c01\nkeeps its original: 2.9 s long: expected 8 s or more" in told
    assert "practice: exchanges of 1 of 2 clips" in told
    assert re.search(r"mouth: area under the ROC curve logistic regression [\d.]+, extra trees [\d.]+ \(2 clips", told)
    assert (
        "final: the explanation score stays a diagnostic:\n  - eyes: measured on 2 people: expected 30 or more" in told
    )
    inputs = bundle / "input_data/practice"
    listed = json.loads((inputs / "exchanges.json").read_text())
    assert list(listed["clips"]) == ["c00"]
    files = {file["file"] for entry in listed["clips"].values() for file in (entry, entry["first"])}
    assert {f"exchanges/{path.name}" for path in (inputs / "exchanges").iterdir()} == files
    assert yaml.safe_load((inputs / "task.yaml").read_text())["exchanges"] == "exchanges.json"
    for phase in SPLIT:
        figures = json.loads((bundle / "reference_data" / phase / "detectability.json").read_text())
        assert set(figures["interventions"]) == {"mouth", "eyes", "time"}
    assert [path.read_bytes() for path in (bundle / "public_data").iterdir()] == [draw(0).content]
    page = (bundle / "private/exchanges.html").read_text()
    assert page.count("<figure>") == 2
    assert "2.9 s long" in page

    made.clear()
    first = min(files)
    before = (inputs / first).read_bytes()
    (inputs / first).unlink()
    (inputs / "exchanges/c000000000.mp4").write_bytes(b"of an earlier call")
    assert call(bundle) == 0
    assert len(made) == 1
    assert "2 clips made in an earlier call" in capsys.readouterr().out
    assert (inputs / first).read_bytes() == before
    assert not (inputs / "exchanges/c000000000.mp4").exists()


def test_what_others_made_is_not_replaced(bundle: Path, made: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    inputs = bundle / "input_data/final"
    (inputs / "exchanges.json").write_text('{"format_version": 2, "clips": {"c10": {"file": "x", "parts": []}}}')
    enter(inputs / "task.yaml", {"exchanges": "exchanges.json"})
    assert call(bundle) == 1
    assert "1 exchanges are not of this command, such as that of c10" in capsys.readouterr().err
    assert made == []


def test_drawn_clips_and_missing_files_are_refused(
    bundle: Path, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(ROOT) == 1
    assert "its clips are drawn" in capsys.readouterr().err
    for file in ("final/clips/c10.mp4", "practice/clips/c00.mp4"):
        (bundle / "input_data" / file).unlink()
    assert call(bundle) == 1
    told = capsys.readouterr().err
    assert "1 files of the list are missing, such as clips/c10.mp4" in told
    assert "1 files of the list are missing, such as clips/c00.mp4" in told


def test_a_lost_clip_is_named_and_the_others_are_kept(
    bundle: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = vars(command)["make"]

    def lose(job: Job) -> dict[str, Any]:
        if job.clip_id == "c00":
            raise Lost("killed (exit code -9)")
        result: dict[str, Any] = good(job)
        return result

    monkeypatch.setattr(command, "make", lose)
    assert call(bundle) == 1
    assert "practice, clip c00: was lost 3 times, at last: killed (exit code -9)" in capsys.readouterr().err
    assert not (bundle / "input_data/practice/exchanges.json").exists()
    monkeypatch.setattr(command, "make", good)
    made.clear()
    assert call(bundle) == 0
    assert made == ["c00"]


def test_without_the_models_it_says_what_to_install(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bundle_tools.filmed.track.PACKAGE", "no_such_package")
    assert call(bundle) == 1
    assert "`make setup WITH=filmed`" in capsys.readouterr().err


@pytest.mark.browser
def test_the_page_of_exchanged_parts_fits_a_phone(tmp_path: Path) -> None:
    area = {"auc": 0.5, "lower": 0.4, "upper": 0.6}
    figures = {
        "eyes": {"clips": 1, "people": 1, "detectors": dict.fromkeys(("logistic regression", "extra trees"), area)}
    }
    clip = {"clip_id": "c1", "phase": "practice", "refused": {}, "figures": {"eyes": {"apart": 1.0, "dearest": 1.0}}}
    shown = [base64.b64encode(small_jpeg(np.zeros((60, 90, 3), np.uint8))).decode()] * 3
    (tmp_path / "private").mkdir()
    write_sheet(tmp_path, [{**clip, "pictures": [{"part": "eyes", "time_s": 1.0, "shown": shown}]}], figures)
    with chromium() as browser, browser.tab(tmp_path / SHEET, 360) as tab:
        assert tab.width() <= 360
        assert tab.accessibility() == []
    assert tab.heard == []
