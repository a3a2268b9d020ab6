"""`bundle convert`: the files of 2017 from a run and back, and through the whole of `bundle run`."""

import csv
import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml

from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from model_process.results.pickles import read_pickle
from tests import ROOT, there
from tests.fewer import copy_with
from tests.guides import fork_programs, run_lines, shell_blocks
from tests.scoring.factory import jpeg
from tests.tiny import write_files

ALIASES = "clip_id,name\nc1,-J4GQm9j0J.003.mp4\n"
TEXT = "She looks into the camera, so she seems open."


def picture(blue: int) -> np.ndarray:
    """Smooth, so that JPEG keeps it."""
    wide = np.linspace(0, 200, 355)[None, :, None] + np.array([0, 20, blue])
    return np.broadcast_to(wide, (200, 355, 3)).round().astype(np.uint8)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """What ingestion left of two clips."""
    folder = tmp_path / "run"
    lines = [
        {"clip_id": "c1", "text": TEXT, "image": "images/c1.jpg", "evidence": None},
        {"clip_id": "c2", "text": "Caf\u00e9.", "image": None, "evidence": None},
    ]
    write_files(
        folder,
        {
            "run.json": json.dumps({"task": "test", "status": "complete"}),
            "predictions.csv": "clip_id,stability,interview\nc1,0.1,0.30000000000000004\nc2,1.0,0.0\n",
            "explanations.jsonl": "".join(json.dumps(line) + "\n" for line in lines),
            "images/c1.jpg": cv2.imencode(".jpg", picture(50)[:, :, ::-1])[1].tobytes(),
        },
    )
    (tmp_path / "aliases.csv").write_text(ALIASES)
    return folder


def convert(source: Path, out: Path, *options: str) -> int:
    target = ("--aliases", str(source.parent / "aliases.csv"), "--target", "neuroticism=stability")
    return main(["convert", str(source), "--out", str(out), *target, *options])


def test_there_and_back_again(run_folder: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert convert(run_folder, old) == 0
    assert convert(old, new) == 0
    assert (new / "predictions.csv").read_text() == (run_folder / "predictions.csv").read_text()
    lines = [json.loads(line) for line in (new / "explanations.jsonl").read_text().splitlines()]
    assert [(line["clip_id"], line["text"]) for line in lines] == [("c1", TEXT), ("c2", "Caf\u00e9.")]
    assert lines[1]["image"] is None
    again = there(cv2.imread(str(new / lines[0]["image"])))
    assert np.abs(again[:, :, ::-1].astype(int) - picture(50)).max() <= 8


def test_every_command_of_the_guide_works(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    mine = run_folder.rename(tmp_path / "runs" / "mine")
    predictions = (mine / "predictions.csv").read_text().replace("stability", "emotional_stability")
    (mine / "predictions.csv").write_text(predictions)
    for block in shell_blocks("docs/results_2017.md"):
        run_lines(block.splitlines())
    assert Path("records/predictions.csv").read_text() == predictions
    assert sorted(path.name for path in Path("sample").iterdir()) == [
        "description.pkl",
        "metadata.txt",
        "prediction.pkl",
    ]


def test_the_files_are_those_of_2017(run_folder: Path, tmp_path: Path) -> None:
    assert convert(run_folder, tmp_path / "old") == 0
    data = (tmp_path / "old" / "prediction.pkl").read_bytes()
    name = "-J4GQm9j0J.003.mp4"
    assert read_pickle(data) == {
        "neuroticism": {name: 0.1, "c2.mp4": 1.0},
        "interview": {name: 0.30000000000000004, "c2.mp4": 0.0},
    }
    assert data[:2] == b"\x80\x02"
    found = read_pickle((tmp_path / "old" / "description.pkl").read_bytes())
    assert found["c2.mp4"] == ("Caf\u00e9.", None)
    assert np.abs(found[name][1].astype(int) - picture(50)).max() <= 6


def test_a_light_sample_has_no_pictures(run_folder: Path, tmp_path: Path) -> None:
    assert convert(run_folder, tmp_path / "old", "--light") == 0
    path = tmp_path / "old" / "description.pkl"
    assert [image for _, image in read_pickle(path.read_bytes()).values()] == [None, None]
    assert path.stat().st_size < 500


def test_bgr_that_is_stated_is_turned_round(run_folder: Path, tmp_path: Path) -> None:
    assert convert(run_folder, tmp_path / "old") == 0
    (tmp_path / "old" / "metadata.txt").write_text("pictures: bgr\n")
    assert convert(tmp_path / "old", tmp_path / "new") == 0
    stored = there(cv2.imread(str(tmp_path / "new" / "images" / "000001.jpg")))
    assert np.abs(stored.astype(int) - picture(50)).max() <= 8


REFUSED: dict[str, tuple[dict[str, str | bytes], str]] = {
    "code": ({"prediction.pkl": b"cos\nsystem\n(S'true'\ntR."}, "the name os.system"),
    "two files": ({"prediction.pkl": b"N.", "predictions.pkl": b"N."}, "only one of them"),
    "a hole": ({"prediction.pkl": pickle.dumps({"a": {"x": 0.5, "y": 0.5}, "b": {"x": 0.5}})}, "1 clips lack"),
    "not a number": (
        {"prediction.pkl": pickle.dumps({"a": {"x": float("nan")}})},
        "x, a: expected a finite number; found nan",
    ),
    "a word": ({"prediction.pkl": pickle.dumps({"a": {"x": "high"}})}, "x, a: expected a finite number; found 'high'"),
    "a formula": (
        {"prediction.pkl": pickle.dumps({"a": {"=cmd()": 0.5}})},
        "1 clips have a name that is not a clip id",
    ),
    "a path": ({"prediction.pkl": pickle.dumps({"a": {"../../x": 0.5}})}, "such as '../../x'"),
    "infinity": (
        {"run.json": '{"task": "test"}', "predictions.csv": "clip_id,stability\nc1,-inf\n", "explanations.jsonl": ""},
        "predictions.csv, line 2, clip c1: expected 1 finite numbers; found -inf",
    ),
    "nothing": ({"notes.txt": b""}, "expected the results of ingestion"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_converted_says_why_and_leaves_nothing(
    name: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, said = REFUSED[name]
    source = write_files(run_folder.parent / "source", dict(files))
    assert convert(source, tmp_path / "out") == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".convert-*"))


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def link(path: Path) -> None:
    path.symlink_to(path.rename(path.parent.parent / "elsewhere"))


def lines(path: Path, line: str) -> None:
    path.write_text(path.read_text() + line * 100_001)


FOREIGN: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a pipe": ("predictions.csv", pipe, "no regular file"),
    "a device": ("predictions.csv", device, "no regular file"),
    "a link": ("explanations.jsonl", link, "no regular file"),
    "a linked picture": ("images/c1.jpg", link, "no regular file"),
    "a picture elsewhere": (
        "explanations.jsonl",
        lambda path: path.write_text('{"clip_id": "c1", "text": "", "image": "../../../etc/passwd"}\n'),
        "an unsafe path",
    ),
    "a large picture": ("images/c1.jpg", lambda path: os.truncate(path, 2**20 + 1), "1048577 bytes, more than 1048576"),
    "a picture of many pixels": ("images/c1.jpg", lambda path: path.write_bytes(jpeg(0, 9, 1025)), "9 x 1025 pixels"),
    "many rows": ("predictions.csv", lambda path: lines(path, "c1,0,0\n"), "at most 100000 lines"),
    "many rows of old Macs": ("predictions.csv", lambda path: lines(path, "c1,0,0\r"), "at most 100000 lines"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_no_run_leaves_are_refused(
    name: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, change, said = FOREIGN[name]
    change(run_folder / file)
    assert convert(run_folder, tmp_path / "out") == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("aliases", "target", "said"),
    [
        ("name,clip_id\n", "a=b", "clip_id,name"),
        (ALIASES + "c1,x.mp4\n", "a=b", "every clip"),
        (ALIASES + "c2,-J4GQm9j0J.003.mp4\n", "a=b", "every name"),
        (ALIASES, "stability", "OLDER=OWN"),
    ],
)
def test_names_of_another_form(
    aliases: str, target: str, said: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "aliases.csv").write_text(aliases)
    assert convert(run_folder, tmp_path / "out", "--target", target) == 1
    assert said in capsys.readouterr().err


def test_all_that_would_be_lost_is_told_at_once(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predictions = "clip_id,stability,interview\nc1,,0.3\nc2,1.0\nc3,1,0\nc3,1,0\nc1.mp4,1,1\n"
    (run_folder / "predictions.csv").write_text(predictions)
    with (run_folder / "explanations.jsonl").open("a") as file:
        file.write('{"clip_id"\n{"clip_id": "c3"}\n[]\n')
    (tmp_path / "aliases.csv").write_text("clip_id,name\nc1,x.mp4\nc3,c2.mp4\n")
    assert convert(run_folder, tmp_path / "out", "--target", "interview=emotional_stabilty") == 1
    said = capsys.readouterr().err
    for words in (
        *(f"predictions.csv, line {line}, clip" for line in (2, 3, 5)),
        *(f"explanations.jsonl, line {line}: expected" for line in (3, 4, 5)),
        "expected one of stability, interview; found emotional_stabilty",
        "c3 and c2: these clips",
    ):
        assert words in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "x=interview", "--target", "y=interview"), "several times: own name interview"),
        (("--target", "neuroticism=interview"), "several times: older name neuroticism"),
    ],
)
def test_names_twice(
    options: tuple[str, ...], said: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convert(run_folder, tmp_path / "out", *options) == 1
    assert said in capsys.readouterr().err


def test_two_targets_never_become_one(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old"
    assert main(["convert", str(run_folder), "--out", str(old)]) == 0
    for source, pair in ((run_folder, "interview=stability"), (old, "interview=stability")):
        assert main(["convert", str(source), "--out", str(tmp_path / "new"), "--target", pair]) == 1
        assert "stability and interview: these targets" in capsys.readouterr().err
    assert main(["convert", str(old), "--out", str(tmp_path / "new"), "--target", "oldish=interview"]) == 1
    assert "found oldish" in capsys.readouterr().err


def test_aliases_of_no_clip_are_told(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "aliases.csv").write_text(ALIASES + "c9,z.mp4\n")
    assert convert(run_folder, tmp_path / "old") == 0
    assert "1 names match no clip: c9" in capsys.readouterr().out
    assert convert(tmp_path / "old", tmp_path / "new") == 0
    assert "1 names match no clip: z.mp4" in capsys.readouterr().out


@pytest.mark.slow
def test_an_entry_of_2017_runs_where_results_are_allowed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From records to a zip of 2017, and through ingestion, scoring and the report."""
    bundle = copy_with(ROOT, tmp_path / "bundle", 2, "competition.yaml", "input_data", "reference_data")
    for name in ("ingestion_program", "scoring_program"):
        (bundle / name).symlink_to(ROOT / name)
    with (bundle / "reference_data" / "practice" / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    targets = [name for name in rows[0] if name not in {"clip_id", "source_id"}]
    predictions = [",".join(["clip_id", *targets]), *(",".join([row["clip_id"], *["0.5"] * 6]) for row in rows)]
    texts = [json.dumps({"clip_id": row["clip_id"], "text": TEXT, "image": None, "evidence": None}) for row in rows]
    run = write_files(
        tmp_path / "run",
        {
            "run.json": json.dumps({"task": "practice"}),
            "predictions.csv": "\n".join(predictions) + "\n",
            "explanations.jsonl": "\n".join(texts) + "\n",
        },
    )
    names = [f"{row['clip_id']},v{at}.000.mp4\n" for at, row in enumerate(rows)]
    (tmp_path / "aliases.csv").write_text("clip_id,name\n" + "".join(names))
    old = ["--target", "neuroticism=emotional_stability", "--aliases", str(tmp_path / "aliases.csv")]
    assert main(["convert", str(run), "--out", str(tmp_path / "old"), *old]) == 0
    zip_folder(tmp_path / "old", tmp_path / "old.zip")

    path = bundle / "input_data" / "practice" / "task.yaml"
    more = {"results": True, "aliases": "aliases.csv", "target_aliases": {"neuroticism": "emotional_stability"}}
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **more}))
    shutil.copy(tmp_path / "aliases.csv", path.parent)
    out = tmp_path / "out"
    command = ["run", str(tmp_path / "old.zip"), "--bundle", str(bundle), "--phase", "practice", "--out", str(out)]
    fork_programs(monkeypatch)
    assert main(command) == 0, capfd.readouterr().out
    record = json.loads((out / "ingestion_output" / "run.json").read_text())
    assert (record["results"], record["status"], record["clips"]["ok"]) == (True, "complete", len(rows))
    scores = json.loads((out / "scoring_output" / "scores.json").read_text())
    truth = np.array([float(row["interview"]) for row in rows])
    assert scores["interview_accuracy"] == pytest.approx(1 - np.abs(truth - 0.5).mean(), abs=1e-4)
    assert scores["coverage"] == 1
    assert (scores["faithfulness_space"], scores["faithfulness_time"], scores["cue_claims"]) == (0, 0, 0)
    assert "Results were submitted instead of code" in (out / "scoring_output" / "detailed_results.html").read_text()
