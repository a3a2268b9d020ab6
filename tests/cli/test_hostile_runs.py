"""Submissions that try to pass for more than they are, against the real programs."""

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from tests import ROOT
from tests.fewer import comparable, copy_with
from tests.guides import fork_programs
from tests.tiny import write_files

PROGRAMS = ("ingestion_program", "scoring_program")
# It works, so that ingestion ends well: nothing but the seal is in the way of what lies beside it.
MODEL = {name: (ROOT / "solutions" / "constant" / name).read_text("utf-8") for name in ("model.py", "means.json")}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the bundle as it is built, with two clips: both programs hold the same secret."""
    names = ("competition.yaml", *PROGRAMS, "input_data", "reference_data")
    root = copy_with(ROOT, tmp_path_factory.mktemp("sealed"), 2, *names)
    settings = root / "input_data" / "practice" / "task.yaml"
    # No time to load a model again: it is not asked again in a fresh process.
    settings.write_text(re.sub("load_s: 60\\b", "load_s: 600", settings.read_text()))
    for program in PROGRAMS:
        (root / program / "seal.key").write_text("5e" * 32 + "\n")
    return root


def without_ingestion(root: Path, to: Path) -> Path:
    """Give the bundle with forged results as what scoring reads, as on a server that lays submissions beside them."""
    shutil.copytree(root, to)
    text = (to / "competition.yaml").read_text()
    (to / "competition.yaml").write_text(text.replace("    ingestion_program: ingestion_program/\n", ""))
    return to


@pytest.fixture(scope="module")
def honest(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give what a run of an honest submission leaves; not to be changed."""
    out = tmp_path_factory.mktemp("honest") / "out"
    assert run(sealed, ROOT / "solutions" / "constant", out) == 0
    return out


@pytest.fixture(scope="module")
def forgery(sealed: Path, honest: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | bytes]:
    """Give results with the true values as predictions, and a manifest that fits them but for the seal."""
    results = tmp_path_factory.mktemp("forged") / "results"
    shutil.copytree(honest / "ingestion_output", results)
    with (sealed / "reference_data" / "practice" / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (results / "predictions.csv").open(encoding="utf-8") as file:
        columns = next(csv.reader(file))
    lines = [",".join(columns), *(",".join(row[column] for column in columns) for row in rows)]
    (results / "predictions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    content = (results / "predictions.csv").read_bytes()
    manifest["files"]["predictions.csv"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    files: dict[str, str | bytes] = {
        path.relative_to(results).as_posix(): path.read_bytes()
        for path in results.rglob("*")
        if path.is_file() and path.name != "metadata"
    }
    perfect = {"explanation": 100.0, "interview_accuracy": 1.0}
    return {**files, "manifest.json": json.dumps(manifest), "scores.json": json.dumps(perfect)}


def run(root: Path, submission: Path, out: Path, *options: str) -> int:
    with pytest.MonkeyPatch.context() as monkeypatch:
        fork_programs(monkeypatch)
        return main(["run", str(submission), "--bundle", str(root), "--phase", "practice", "--out", str(out), *options])


def scores(out: Path) -> dict[str, float]:
    return comparable(out / "scoring_output" / "scores.json")


def test_only_the_seal_keeps_forged_results_from_paying(
    sealed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], forgery: dict[str, str | bytes]
) -> None:
    submission = write_files(tmp_path / "submission", forgery)
    bundle = without_ingestion(sealed, tmp_path / "bundle")
    assert run(bundle, submission, tmp_path / "out") == 1
    assert "Status on Codabench: Failed" in capfd.readouterr().out
    assert not (tmp_path / "out" / "scoring_output" / "scores.json").exists()
    (bundle / "scoring_program" / "seal.key").unlink()
    run(bundle, submission, tmp_path / "out")
    assert scores(tmp_path / "out")["interview_accuracy"] == 1


def test_an_honest_submission_is_scored(honest: Path) -> None:
    assert scores(honest)["failed_clips"] == 0
    assert 0.8 < scores(honest)["interview_accuracy"] < 0.95


@pytest.mark.parametrize("own_command", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_planted_results_never_pay(
    sealed: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    honest: Path,
    forgery: dict[str, str | bytes],
    own_command: bool,
) -> None:
    files: dict[str, str | bytes] = {**forgery, **MODEL}
    if own_command:
        files["metadata"] = "command: python3 /app/program/plant.py\n"
        files["plant.py"] = (
            "import shutil\nshutil.copytree('/app/program', '/app/output', dirs_exist_ok=True,\n"
            "    ignore=lambda *_: ['metadata'])\n"
        )
    submission = write_files(tmp_path / "submission", files)
    out = tmp_path / "out"
    code = run(sealed, submission, out)
    if not own_command:  # ingestion has swept them: what counts is what the model said
        assert (code, scores(out)) == (0, scores(honest))
        return
    assert code == 1
    assert "Status on Codabench: Failed" in capfd.readouterr().out
    assert not (out / "scoring_output" / "scores.json").exists()
