"""`bundle data skill-reference`: a run's errors earn a skill factor of 1 in every phase; mistakes are named."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml

from bundle_tools.cli.main import main
from tests import ROOT
from tests.fewer import copy_with


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return copy_with(ROOT, tmp_path / "bundle", 3, "competition.yaml", "input_data", "reference_data")


def write_run(folder: Path, bundle: Path, task: str = "practice", off: float = 0.1, leave_out: int = 0) -> Path:
    """Write what ingestion leaves, with predictions that are so far above the labels."""
    folder.mkdir()
    with (bundle / "reference_data" / "practice" / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))[leave_out:]
    for number, row in enumerate(rows):
        del row["source_id"]
        for name in [name for name in row if name != "clip_id"]:
            row[name] = str(float(row[name]) + off * (-1) ** number)
    with (folder / "predictions.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    (folder / "run.json").write_text(json.dumps({"task": task}))
    (folder / "manifest.json").write_text("{}")
    return folder


def test_errors_stand_in_the_settings_of_every_phase(bundle: Path, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", bundle)
    assert main(["data", "skill-reference", str(run), "--bundle", str(bundle)]) == 0
    for phase in ("practice", "final"):
        settings = yaml.safe_load((bundle / "reference_data" / phase / "task.yaml").read_text())
        assert settings["skill_reference"] == dict.fromkeys([one["name"] for one in settings["targets"]], 0.1)
        original = yaml.safe_load((ROOT / "reference_data" / phase / "task.yaml").read_text())
        assert {**original, "skill_reference": settings["skill_reference"]} == settings


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"task": "semi"}, "expected a run of practice, final, with folders as reference data; found semi"),
        ({"leave_out": 1}, "1 of 3 clips have no prediction"),
    ],
)
def test_a_run_that_does_not_fit_is_named(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: dict[str, object], said: str
) -> None:
    before = (bundle / "reference_data/final/task.yaml").read_text()
    run = write_run(tmp_path / "run", bundle, **spoil)  # type: ignore[arg-type]
    assert main(["data", "skill-reference", str(run), "--bundle", str(bundle)]) == 1
    assert said in capsys.readouterr().err
    assert (bundle / "reference_data/final/task.yaml").read_text() == before
    shutil.rmtree(run)
    assert main(["data", "skill-reference", str(run), "--bundle", str(bundle)]) == 1
