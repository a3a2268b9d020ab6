"""`--skill-reference`: a run's errors earn a skill factor of 1 in every phase; mistakes are named."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml

from bundle_tools.challenge.rules.reference import check_landmarks
from bundle_tools.cli.main import main
from tests import ROOT
from tests.fewer import copy_with
from tests.tiny import draft_of


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return copy_with(ROOT, tmp_path / "bundle", 12, "competition.yaml", "input_data", "reference_data")


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


def call(bundle: Path, run: Path) -> int:
    return main(["data", "baselines", "--skill-reference", str(run), "--bundle", str(bundle)])


@pytest.fixture(autouse=True)
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the bundles whose baselines would be computed again."""
    bundles: list[Path] = []
    monkeypatch.setattr("bundle_tools.cli.data.compute_again", lambda root, *_, **__: bundles.append(root))
    return bundles


def test_errors_stand_in_the_settings_of_every_phase_before_baselines_follow(
    bundle: Path, tmp_path: Path, computed: list[Path]
) -> None:
    assert call(bundle, write_run(tmp_path / "run", bundle, off=0.02)) == 0
    for phase in ("practice", "final"):
        settings = yaml.safe_load((bundle / "reference_data" / phase / "task.yaml").read_text())
        assert settings["skill_reference"] == dict.fromkeys([one["name"] for one in settings["targets"]], 0.02)
        original = yaml.safe_load((ROOT / "reference_data" / phase / "task.yaml").read_text())
        assert {**original, "skill_reference": settings["skill_reference"]} == settings
    assert computed == [bundle]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"task": "semi"}, "expected a run of practice, final, with folders as reference data; found semi"),
        ({"leave_out": 1}, "1 of 12 clips have no prediction"),
        ({"off": 0.1}, "it hardly beats the training mean"),
    ],
)
def test_a_run_that_does_not_fit_is_named(
    bundle: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: dict[str, object],
    said: str,
    computed: list[Path],
) -> None:
    before = (bundle / "reference_data/final/task.yaml").read_text()
    run = write_run(tmp_path / "run", bundle, **spoil)  # type: ignore[arg-type]
    assert call(bundle, run) == 1
    assert said in capsys.readouterr().err
    assert (bundle / "reference_data/final/task.yaml").read_text() == before
    shutil.rmtree(run)
    assert call(bundle, run) == 1
    assert not computed


def test_a_reference_that_the_training_mean_reaches_is_a_finding(bundle: Path) -> None:
    path = bundle / "reference_data/practice/task.yaml"
    settings = yaml.safe_load(path.read_text())

    def near() -> list[str]:
        path.write_text(yaml.safe_dump(settings))
        return [finding.what for finding in check_landmarks(draft_of(bundle)) if finding.code == "skill-reference"]

    assert not near()
    settings["skill_reference"] = dict.fromkeys(settings["skill_reference"], 0.15)
    assert near() == ["skill_reference: hardly below the error of the training mean."]
