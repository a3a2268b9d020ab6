"""Observations for plausibility: what rationales cite, without those that argue for the opposite."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.cli.main import main
from bundle_tools.own_clips.observations import Point, cited, within
from score.read.known import read_observations

from .clips import make_zip
from .sets import rows

BOX = (0.25, 0.3, 0.5, 0.75)
TOP = (0.0, 0.0, 1.0, 0.1)
SEEN = (
    Point(0.0, 2.2, None),
    Point(2.2, 4.13, BOX),
    Point(2.2, 4.13, TOP),
    Point(2.2, 4.13, None),
    Point(4.13, 9.0, BOX),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nothing is cited, not even 2.2s or (2.2s - 4.1s).", []),
        ("A glance ([2.2s-4.1s]).", [(2.2, 4.13, BOX), (2.2, 4.13, TOP), (2.2, 4.13, None)]),
        ("A glance ([4.1s]) again.", [(4.13, 9.0, BOX)]),
        ("A pause ([3.9s - 6.2s]) and [3 \u2013 5 s].", [(3.9, 6.2, None), (3.0, 5.0, None)]),
        ("A time that ends before it starts [6.2s-3.9s], and one where nothing begins [7.7s].", []),
    ],
)
def test_what_a_rationale_cites(text: str, expected: list[tuple[Any, ...]]) -> None:
    assert [(one.start_s, one.end_s, one.box) for one in cited(text, SEEN)] == expected


def test_points_are_cut_to_the_clip_and_those_that_point_nowhere_are_left_out() -> None:
    points = [Point(0, 1.9, None), Point(0, 3, BOX), Point(1, 1.5, None), Point(2.5, 3, BOX)]
    assert within(points, 2.0) == (Point(0, 2.0, BOX), Point(1, 1.5, None))


def annotation(name: str) -> bytes:
    """Return annotations in MM-OCEAN's form, made up."""
    boxes = [{"frame_time": 0.5, "x": 0.9, "y": 0.5, "w": 0.3, "h": 0.25, "note": "", "region": "hands"}]
    boxes += [{"frame_time": 0.5, "x": 1.5, "y": 0.5, "w": 0.3, "h": 0.25, "note": "", "region": "outside"}]
    content = {
        "video_id": name,
        "original_scores": {"neuroticism": 0.9},
        "observations": [
            {"dimension": "Action", "start_time": 0.5, "end_time": 0.64, "description": "Waves.", "bboxes": boxes},
            {"dimension": "Audio", "start_time": 0.64, "end_time": 0.96, "description": "Laughs.", "bboxes": []},
            {"dimension": "Expression", "start_time": 0, "end_time": 0.4, "description": "Frowns.", "bboxes": boxes},
        ],
        "personality_analyses": [
            {"trait": "Extraversion", "rationale": "A wave ([0.5s-0.6s]) and a laugh ([0.6s-1.0s])."},
            {"trait": "Neuroticism", "rationale": "The frown ([0.0s-0.4s]) shows nerves."},
        ],
    }
    return json.dumps(content).encode()


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "folder"))


def names_of(folder: Path, part: str) -> dict[str, str]:
    return {row["name"]: row["clip_id"] for row in rows(folder / "private" / "clips.csv") if row["part"] == part}


def run(folder: Path, source: Path, *more: str) -> int:
    return main(["data", "observations", "--source", str(source), "--out", str(folder), *more])


def test_observations_reach_the_reference_and_scoring_reads_them(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    practice, final = (names_of(folder, part) for part in ("practice", "final"))
    chosen = [*list(practice)[:2], *list(final)[:1]]
    files = {f"{name}.json": annotation(name) for name in (*chosen, "-elsewhere_.000.mp4")}
    (tmp_path / "ocean.zip").write_bytes(make_zip({**files, "croissant.json": b"{}"}))
    assert run(folder, tmp_path / "ocean.zip") == 0
    wanted = folder / "reference_data" / "practice"
    settings = yaml.safe_load((wanted / "task.yaml").read_text("utf-8"))
    assert settings["observations"] == "observations.json"
    content = json.loads((wanted / "observations.json").read_text("utf-8"))
    assert content["licence"] == "CC BY-NC-SA 4.0"
    assert set(content["clips"]) == {practice[name] for name in chosen[:2]}
    read = read_observations(wanted / "observations.json", tuple(practice.values()))
    for name in chosen[:2]:
        # The wave with its box cut at the edge of the frame, and the laugh; not the frown.
        times = [(point.start_s, point.end_s, point.box) for point in read[practice[name]]]
        assert times == [(0.5, 0.64, (0.9, 0.5, 1.0, 0.75)), (0.64, 0.96, None)]
    said = capsys.readouterr().out
    assert "practice: 4 observations in 2 of 6 clips" in said
    assert "CC BY-NC-SA 4.0" in said
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    before = (folder / "reference_data" / "practice" / "task.yaml").read_bytes()
    assert run(folder, tmp_path / "ocean.zip") == 0
    assert (folder / "reference_data" / "practice" / "task.yaml").read_bytes() == before


def test_every_bad_file_is_named_and_nothing_is_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ocean = tmp_path / "ocean"
    ocean.mkdir()
    good = json.loads(annotation(next(iter(names_of(folder, "final")))))
    odd = {
        "cut.mp4.json": json.dumps(good)[:50],
        "list.mp4.json": "[]",
        "nameless.mp4.json": json.dumps({**good, "video_id": None}),
        "timeless.mp4.json": json.dumps({**good, "observations": [{"bboxes": []}]}),
        "twice1.mp4.json": json.dumps(good),
        "twice2.mp4.json": json.dumps(good),
    }
    for name, text in odd.items():
        (ocean / name).write_text(text, "utf-8")
    assert run(folder, ocean) == 1
    said = capsys.readouterr().err
    for name in ("cut.mp4.json", "list.mp4.json", "nameless.mp4.json", "timeless.mp4.json", "twice2.mp4.json"):
        assert name in said
    assert "twice1" not in said
    assert not list(folder.rglob("observations.json"))


def test_the_wrong_folder_names_and_annotations_are_told_apart(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.mp4.json"
    path.write_bytes(annotation("-elsewhere_.000.mp4"))
    assert run(folder, path) == 1
    assert "annotations of clips that are not in this set" in capsys.readouterr().err
    assert run(tmp_path, path) == 1
    assert "reference_data/<phase>/task.yaml" in capsys.readouterr().err
    assert run(folder, path, "--names", str(path)) == 1
    assert "--names" in capsys.readouterr().err
    assert run(folder, tmp_path / "nothing") == 1
    assert "found nothing" in capsys.readouterr().err
