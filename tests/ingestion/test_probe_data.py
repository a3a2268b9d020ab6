"""Settings and lists of the second pass: what is valid, and that all problems are told at once."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.data import read_dataset
from ingest.errors import IngestionError
from ingest.settings import JitterRange, read_task
from tests import there
from tests.ingestion.conftest import SETTINGS, write_phase
from tests.ingestion.test_second_pass import PROBES, probing, write_copies


def changed(key: str, value: object) -> dict[str, Any]:
    settings = copy.deepcopy(probing(copies="copies.csv", faces="faces.csv"))
    *parents, last = key.split(".")
    place = settings
    for parent in parents:
        place = place[parent]
    place[last] = value
    return settings


def test_probes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(yaml.safe_dump(probing()))
    for retired in ({}, {"operators": ["imputation"]}, {"operators": "whatever"}):
        path.write_text(yaml.safe_dump(probing(probes={**PROBES, **retired})))
        probes = there(read_task(path).probes)
        assert (probes.edits, probes.jitter) == (3, JitterRange(0.01, 2, 1))
    path.write_text(yaml.safe_dump(SETTINGS))
    task = read_task(path)
    assert (task.probes, task.copies_file, task.faces_file) == (None, None, None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("copies", ""),
        ("faces", 3),
        ("probes", {}),
        ("probes", "yes"),
        ("probes.edits", 4),
        ("probes.edits", 1.5),
        ("probes.jitter", None),
        ("probes.jitter.gain", 0.2),
        ("probes.jitter.shift_px", -1),
        ("probes.jitter.frames", 0.5),
    ],
)
def test_wrong_settings(key: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(yaml.safe_dump(changed(key, value)))
    with pytest.raises(IngestionError) as caught:
        read_task(path)
    assert all(key in problem.where for problem in caught.value.problems)


def test_all_problems_of_the_settings_at_once(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    wrong = {"edits": 9, "jitter": {"gain": 0.5, "shift_px": 2, "frames": -1}}
    path.write_text(yaml.safe_dump(probing(probes=wrong)))
    with pytest.raises(IngestionError) as caught:
        read_task(path)
    assert len(caught.value.problems) == 3


@pytest.fixture
def folder(numbered_clip: Path, tmp_path: Path) -> Path:
    folder = write_phase(tmp_path / "input", [numbered_clip] * 2, probing(copies="copies.csv", faces="faces.csv"))
    write_copies(folder, numbered_clip, 2)
    (folder / "faces.csv").write_text("clip_id,left,top,right,bottom\nc000,0.1,0.2,0.5,0.75\n")
    return folder


def test_copies_and_faces_are_read(folder: Path) -> None:
    footage = read_dataset(folder, read_task(folder / "task.yaml"))
    assert footage.faces == {"c000": pytest.approx(0.55)}
    assert [found.cue for found in footage.copies["c001"]] == ["smile", "gaze", "motion"]
    assert {found.transcript for found in footage.copies["c001"]} == {"a copy"}


def test_all_problems_of_the_lists_at_once(folder: Path) -> None:
    lines = (folder / "copies.csv").read_text().splitlines()
    head, good, sha = lines[0], lines[1], lines[1].split(",")[-1]
    rows = {
        f"c001,c000,gaze,copies/d0gaze.mp4,{sha}": {"clip_twice", "copy_transcript"},  # the id of a clip
        f"d0gaze,c999,gaze,copies/d0gaze.mp4,{sha}": {"clip_unknown"},
        f"d0motion,c000,hat,copies/d0motion.mp4,{sha}": {"copy_cue"},
        f"d1smile,c000,smile,copies/d1smile.mp4,{sha}": {"copy_cue"},  # a second smile
        f"d1gaze,c001,gaze,../d1gaze.mp4,{sha}": {"clip_path"},
        f"d1motion,c001,motion,copies/none.mp4,{sha}": {"clip_missing"},
        "d0smile2,c001,smile,copies/d0smile.mp4," + "0" * 64: {"clip_changed", "copy_transcript"},
        good: {"clip_twice"},  # the same id again
    }
    (folder / "copies.csv").write_text("\n".join([head, good, *rows]) + "\n")
    faces = ["c000,0.5,0,0.4,1", "c001,0,0,1,nan", "c999,0,0,1,1", "c000,0,0,1"]
    (folder / "faces.csv").write_text("\n".join(["clip_id,left,top,right,bottom", *faces]) + "\n")
    with pytest.raises(IngestionError) as caught:
        read_dataset(folder, read_task(folder / "task.yaml"))
    found: dict[int, set[str]] = {}
    for problem in caught.value.problems:
        if problem.where.startswith("copies.csv line "):
            found.setdefault(int(problem.where.removeprefix("copies.csv line ").split(",")[0]), set()).add(problem.code)
    assert found == dict(enumerate(rows.values(), 3))
    told = [problem.code for problem in caught.value.problems if problem.where.startswith("faces.csv")]
    assert sorted(told) == ["clip_unknown", "clips_row", "face_box", "face_box"]
    assert all(problem.fault == "organiser" for problem in caught.value.problems)


@pytest.mark.parametrize("name", ["copies.csv", "faces.csv"])
def test_a_list_that_is_missing(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(IngestionError, match="clips_unreadable"):
        read_dataset(folder, read_task(folder / "task.yaml"))


def test_a_copy_needs_a_transcript(folder: Path) -> None:
    (folder / "transcripts.json").write_text(json.dumps({"c000": "hello"}))
    with pytest.raises(IngestionError, match="copy_transcript"):
        read_dataset(folder, read_task(folder / "task.yaml"))
