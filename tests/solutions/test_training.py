"""Training is deterministic, its weights are plain JSON, and a solution imports nothing of the project."""

import ast
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cuereader.additive import load as load_weights
from cuereader.features import FEATURES

import training
from tests import ROOT, warm
from tests.solutions.conftest import CUE_READER, SOLUTIONS, load


def test_fitting_recovers_a_known_rule() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(400, len(FEATURES)))
    weights = random.normal(size=(2, len(FEATURES)))
    labels = 0.5 + 0.02 * np.clip(values, -3, 3) @ weights.T
    model = load("cue_reader", "train").fit(values, labels, ("one", "two"))
    assert np.abs(model.weights - 0.02 * weights * values.std(axis=0)).max() < 1e-3


def test_what_could_not_be_measured_counts_as_average() -> None:
    model = load_weights(CUE_READER / "weights.json")
    nothing = np.full(len(FEATURES), np.nan)
    assert list(model.predict(nothing).values()) == pytest.approx(list(model.intercepts))
    assert all(value == 0 for row in model.contributions(nothing).values() for value in row.values())


@pytest.mark.slow
def test_training_twice_gives_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample, small = ROOT / "public_data", tmp_path / "small"
    small.mkdir()
    lines = (sample / "labels.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (small / "labels.csv").write_text("".join(lines[:3]), encoding="utf-8")
    for name in ("clips", "transcripts.json"):
        (small / name).symlink_to(sample / name)
    # Once as its users call it, once in this process, where threads measure the clips.
    script, out = CUE_READER / "train.py", [tmp_path / "one.json", tmp_path / "two.json"]
    words = ["--data", str(small), "--workers", "2", "--out"]
    ended = warm.run(script, [*words, out[0]], cwd=tmp_path)
    assert ended.code == 0, ended.printed
    train = load("cue_reader", "train")
    monkeypatch.setattr(training, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(sys, "argv", [str(script), *words, str(out[1])])
    train.main()
    texts = [path.read_text(encoding="utf-8") for path in out]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["features"] == [name for name, _ in FEATURES]


def test_weights_of_other_features_are_refused(tmp_path: Path) -> None:
    content = json.loads((CUE_READER / "weights.json").read_text(encoding="utf-8"))
    (tmp_path / "weights.json").write_text(json.dumps(content | {"features": ["hat"]}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"train\.py again"):
        load_weights(tmp_path / "weights.json")


@pytest.mark.parametrize("path", sorted(SOLUTIONS.rglob("*.py")), ids=lambda path: str(path.relative_to(SOLUTIONS)))
def test_a_solution_imports_nothing_of_the_project(path: Path) -> None:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    assert not names & {"bundle_tools", "ingest", "model_process", "score", "tests", "pickle", "joblib"}
