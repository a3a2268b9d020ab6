"""`bundle convert`: records from the files of 2017; and these files through the whole of `bundle run`."""

import csv
import json
import pickle
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml

from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from tests import ROOT, there
from tests.fewer import copy_with
from tests.guides import fork_programs, run_lines, shell_blocks
from tests.tiny import write_files

ALIASES = "clip_id,name\nc1,-J4GQm9j0J.003.mp4\n"
NAME = "-J4GQm9j0J.003.mp4"
TEXT = "She looks into the camera, so she seems open."


def picture(blue: int) -> np.ndarray:
    """Smooth, so that JPEG keeps it."""
    wide = np.linspace(0, 200, 355)[None, :, None] + np.array([0, 20, blue])
    return np.broadcast_to(wide, (200, 355, 3)).round().astype(np.uint8)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Files of 2017 about two clips, and a table of their names."""
    predictions = {
        "neuroticism": {NAME: 0.1, "c2.mp4": 1.0},
        "interview": {NAME: np.float64(0.30000000000000004), "c2.mp4": "0.0"},
    }
    descriptions = {NAME: (TEXT, picture(50)), "c2.mp4": ("Caf\u00e9.", None)}
    (tmp_path / "aliases.csv").write_text(ALIASES)
    return write_files(
        tmp_path / "old",
        {
            "prediction.pkl": pickle.dumps(predictions, 2),
            "description.pkl": pickle.dumps(descriptions, 2),
            "metadata.txt": "pictures: rgb\n",
        },
    )


def convert(source: Path, out: Path, *options: str) -> int:
    target = ("--aliases", str(source.parent / "aliases.csv"), "--target", "neuroticism=stability")
    return main(["convert", str(source), "--out", str(out), *target, *options])


def test_files_of_2017_become_records(old: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    assert convert(old, new) == 0
    expected = "clip_id,stability,interview\nc1,0.1,0.30000000000000004\nc2,1.0,0.0\n"
    assert (new / "predictions.csv").read_text() == expected
    lines = [json.loads(line) for line in (new / "explanations.jsonl").read_text().splitlines()]
    assert [(line["clip_id"], line["text"]) for line in lines] == [("c1", TEXT), ("c2", "Caf\u00e9.")]
    assert lines[1]["image"] is None
    again = there(cv2.imread(str(new / lines[0]["image"])))
    assert np.abs(again[:, :, ::-1].astype(int) - picture(50)).max() <= 8


def test_every_command_of_the_guide_works(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in shell_blocks("docs/results_2017.md"):
        run_lines(block.splitlines())
    assert Path("records/predictions.csv").read_text().startswith("clip_id,emotional_stability,interview\nc1,0.1,")


def test_bgr_that_is_stated_is_turned_round(old: Path, tmp_path: Path) -> None:
    (old / "metadata.txt").write_text("pictures: bgr\n")
    assert convert(old, tmp_path / "new") == 0
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
    "clips of one name": (
        {"prediction.pkl": pickle.dumps({"neuroticism": {"x": 0.5, "x.mp4": 0.5}})},
        "x and x.mp4: these clips would share the name x",
    ),
    "a run": (
        {"run.json": "{}", "predictions.csv": "clip_id,stability\nc1,0.5\n", "explanations.jsonl": ""},
        "expected prediction.pkl or predictions.pkl",
    ),
    "nothing": ({"notes.txt": b""}, "expected prediction.pkl or predictions.pkl"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_converted_says_why_and_leaves_nothing(
    name: str, old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, said = REFUSED[name]
    source = write_files(old.parent / "source", dict(files))
    assert convert(source, tmp_path / "out") == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".convert-*"))


@pytest.mark.parametrize(
    ("aliases", "target", "said"),
    [
        ("name,clip_id\n", "a=b", "clip_id,name"),
        (ALIASES + "c1,x.mp4\n", "a=b", "every clip"),
        (ALIASES + "c2,-J4GQm9j0J.003.mp4\n", "a=b", "every name"),
        (ALIASES, "stability", "OLDER=OWN"),
        (ALIASES, "x=stability", "several times: own name stability"),
        (ALIASES, "neuroticism=x", "several times: older name neuroticism"),
        (ALIASES, "interviw=x", "--target: expected one of neuroticism, interview; found interviw"),
    ],
)
def test_names_of_another_form(
    aliases: str, target: str, said: str, old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "aliases.csv").write_text(aliases)
    assert convert(old, tmp_path / "out", "--target", target) == 1
    assert said in capsys.readouterr().err


def test_two_targets_never_become_one(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(old), "--out", str(tmp_path / "new"), "--target", "interview=neuroticism"]) == 1
    assert "neuroticism and interview: these targets" in capsys.readouterr().err


def test_aliases_of_no_clip_are_told(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "aliases.csv").write_text(ALIASES + "c9,z.mp4\n")
    assert convert(old, tmp_path / "new") == 0
    assert "1 names match no clip: z.mp4" in capsys.readouterr().out


@pytest.mark.slow
def test_an_entry_of_2017_runs_where_results_are_allowed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip of 2017 goes through ingestion, scoring and the report."""
    bundle = copy_with(ROOT, tmp_path / "bundle", 2, "competition.yaml", "input_data", "reference_data")
    for name in ("ingestion_program", "scoring_program"):
        (bundle / name).symlink_to(ROOT / name)
    with (bundle / "reference_data" / "practice" / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    older = {"emotional_stability": "neuroticism"}
    targets = [older.get(name, name) for name in rows[0] if name not in {"clip_id", "source_id"}]
    names = {row["clip_id"]: f"v{at}.000.mp4" for at, row in enumerate(rows)}
    files: dict[str, str | bytes] = {
        "prediction.pkl": pickle.dumps({target: dict.fromkeys(names.values(), 0.5) for target in targets}, 2),
        "description.pkl": pickle.dumps(dict.fromkeys(names.values(), (TEXT, None)), 2),
    }
    zip_folder(write_files(tmp_path / "old", files), tmp_path / "old.zip")

    path = bundle / "input_data" / "practice" / "task.yaml"
    more = {"results": True, "aliases": "aliases.csv", "target_aliases": {"neuroticism": "emotional_stability"}}
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **more}))
    aliases = "".join(f"{clip_id},{name}\n" for clip_id, name in names.items())
    (path.parent / "aliases.csv").write_text(f"clip_id,name\n{aliases}")
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
