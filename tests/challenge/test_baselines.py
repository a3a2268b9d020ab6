"""`bundle data baselines`: what needs no watching, what the labels allow, and the file and pages that tell of it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from bundle_tools.challenge.baselines import from_causes, look_up, metadata_only, noise_ceiling, noise_within_people
from bundle_tools.challenge.pages.figures import table
from bundle_tools.challenge.reading.tables import fingerprint
from bundle_tools.challenge.rules.reference import check_landmarks
from bundle_tools.cli.main import main
from bundle_tools.codabench.competition import load
from bundle_tools.codabench.rules.dataset import DataFiles
from score.landmarks import read_landmarks
from score.settings import read_settings
from tests import ROOT, there
from tests.scoring.factory import make_case, make_input
from tests.tiny import draft_of, swap, write_files

Array = NDArray[np.float64]
HALF = np.array([0.5])
COMPETITION = """\
title: Field
tasks:
  - {index: 0, name: Practice, scoring_program: scoring_program, input_data: given, reference_data: reference}
phases: [{index: 0, name: Practice, tasks: [0]}]
pages: [{title: Evaluation, file: pages/evaluation.md}]
leaderboards:
  - columns:
      - {index: 0, key: explanation, title: Explanation score, precision: 2}
      - {index: 1, key: interview_accuracy, title: Accuracy, precision: 4}
      - {index: 2, key: text, title: Text, precision: 4}
"""
TEMPLATE = "# Evaluation\n\n{{ landmarks }}\n\nMore.\n"
INPUTS = {
    "seed": 1,
    "clips": "clips.csv",
    "limits": {"time_limit_s": 600},
    "probes": {"edits": 3},
    "exchanges": "exchanges.json",
}


def people(seed: int, alike: float, n: int = 200, clips: int = 2) -> tuple[Array, NDArray[np.int64]]:
    """Labels (n clips, 1) whose clips of one person correlate by ``alike``."""
    draw = np.random.default_rng(seed)
    sources = np.arange(n) // clips
    own = draw.normal(size=n // clips)[sources]
    values = np.sqrt(alike) * own + np.sqrt(1 - alike) * draw.normal(size=n)
    return (0.5 + 0.1 * values)[:, None], sources


def error(truth: Array, predicted: Array) -> float:
    return float(np.abs(truth - predicted).mean())


def test_a_look_up_wins_where_people_are_alike_and_shrinks_to_the_constant_where_not() -> None:
    truth, sources = people(1, alike=0.9)
    predicted = there(look_up(truth, sources, HALF))
    assert error(truth, predicted) < 0.6 * error(truth, np.full_like(truth, 0.5))
    truth, sources = people(2, alike=0.0)
    predicted = there(look_up(truth, sources, HALF))
    assert error(truth, predicted) < 1.05 * error(truth, np.full_like(truth, 0.5))


def test_a_look_up_never_uses_the_clips_own_label_and_ignores_their_order() -> None:
    truth, sources = people(3, alike=0.5, n=40)
    predicted = there(look_up(truth, sources, HALF))
    changed = truth.copy()
    changed[7] = 0.99
    again = there(look_up(changed, sources, HALF))
    assert again[7] == pytest.approx(predicted[7])
    order = np.random.default_rng(0).permutation(40)
    shuffled = look_up(truth[order], sources[order], HALF)
    assert shuffled == pytest.approx(predicted[order])


def test_a_look_up_worked_by_hand_and_against_a_regression() -> None:
    truth = np.array([[0.7], [0.9], [0.2], [0.4], [0.6]])
    sources = np.array([0, 0, 1, 1, 2])
    predicted = there(look_up(truth, sources, HALF))
    # Person 0 is predicted with the slope of person 1, whose clips are away by -0.3 and -0.1:
    # (-0.1)(-0.3) + (-0.3)(-0.1) = 0.06 over 0.01 + 0.09 = 0.10, so 0.6. A single clip has no siblings.
    assert predicted[:, 0] == pytest.approx([0.5 + 0.6 * 0.4, 0.5 + 0.6 * 0.2, *predicted[2:4, 0], 0.5])
    fitted = LinearRegression(fit_intercept=False).fit([[0.4], [0.2]], [0.2, 0.4])
    assert predicted[2, 0] == pytest.approx(0.5 + fitted.coef_[0] * -0.1)
    assert look_up(truth, np.arange(5), HALF) is None


def test_metadata_predict_what_hangs_on_them_and_nothing_else() -> None:
    truth, sources = people(4, alike=0.3, n=80)
    sizes = {"file size": (1000 * truth[:, 0]).round(1).tolist(), "name": [f"c{n}" for n in range(80)]}
    told = there(metadata_only(sizes, truth, sources, HALF))
    assert error(truth, told) < 0.5 * error(truth, np.full_like(truth, 0.5))
    noise = {"file size": np.random.default_rng(5).normal(size=80).tolist()}
    untold = there(metadata_only(noise, truth, sources, HALF))
    assert error(truth, untold) > 0.9 * error(truth, np.full_like(truth, 0.5))
    assert metadata_only({"width": [640.0] * 80}, truth, sources, HALF) is None
    assert metadata_only(sizes, truth, sources % 3, HALF) is None


def test_known_causes_leave_the_noise_alone() -> None:
    draw = np.random.default_rng(6)
    shares = draw.normal(0, 0.1, (101, 1))
    noise = draw.normal(0, 0.01, (101, 1))
    predicted = from_causes(0.45 + shares + noise, shares)
    assert predicted == pytest.approx(0.45 + shares, abs=0.005)


def test_the_ceiling_of_people_is_that_of_their_noise() -> None:
    truth, sources = people(7, alike=0.64, n=20_000)
    ceiling = noise_ceiling(truth, there(noise_within_people(truth, sources)), HALF)
    assert ceiling["r2"][0, 0] == pytest.approx(0.64, abs=0.02)
    assert ceiling["pearson"][0, 0] == pytest.approx(0.8, abs=0.02)
    assert ceiling["ccc"][0, 0] == pytest.approx(2 * 0.64 / 1.64, abs=0.02)
    # The true means, which only this test knows, have that error.
    assert ceiling["accuracy"][0, 0] == pytest.approx(1 - 0.1 * 0.6 * np.sqrt(2 / np.pi), abs=0.002)
    assert ceiling["skill"][0, 0] == pytest.approx(1 - 0.6, abs=0.02)
    assert noise_within_people(truth, np.arange(20_000)) is None


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one phase without videos, and two finished runs: one of a model, one that says the same always."""
    root = tmp_path_factory.mktemp("field")
    case = make_case(clips=24, landmarks="landmarks.json")
    write_files(root, {"competition.yaml": COMPETITION, "pages/evaluation.md.j2": TEMPLATE})
    program = ROOT / "scoring_program"
    (root / "scoring_program").symlink_to(program)
    (root / "given").mkdir()
    (root / "given" / "task.yaml").write_text(yaml.safe_dump(INPUTS))
    (root / "given" / "exchanges.json").write_text('{"clips": {}, "sha256": "aaaa"}')
    lines = [f"{clip},clips/{clip}.mp4,{'0' * 64}" for clip in case.clip_ids]
    (root / "given" / "clips.csv").write_text("\n".join(["clip_id,file,sha256", *lines]))
    for name in ("reader-practice", "flat"):
        if name == "flat":
            case.prediction = np.full_like(case.prediction, 0.5)
        make_input(root / "runs" / name, case)
        (root / "runs" / name / "res").rename(root / "runs" / name / "ingestion_output")
        (root / "runs" / name / "ref").rename(root / "reference") if name == "flat" else None
    return root


def baselines(root: Path) -> int:
    runs = [part for name in ("reader-practice", "flat") for part in ("--run", str(root / "runs" / name))]
    return main(["data", "baselines", "--bundle", str(root), *runs])


def record_of(root: Path) -> dict[str, list[dict[str, dict[str, float]]]]:
    loaded: dict[str, list[dict[str, dict[str, float]]]] = json.loads((root / "reference/landmarks.json").read_text())
    return loaded


@pytest.fixture(scope="module")
def computed(field: Path) -> Path:
    assert baselines(field) == 0
    return field


@pytest.fixture
def copy(computed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(computed, tmp_path / "copy", symlinks=True))


def test_the_command_writes_what_scoring_reads(computed: Path) -> None:
    landmarks = read_landmarks(computed / "reference", read_settings(computed / "reference" / "task.yaml"))
    assert [(item.key, item.kind) for item in landmarks.items] == [
        ("constant", "constant"), ("look_up", "shortcut"), ("reader", "solution"), ("ceiling", "ceiling"),
    ]  # fmt: skip
    constant, shortcut, reader, ceiling = landmarks.items
    assert (constant.columns["explanation"], constant.columns["skill"]) == (0, 0)
    assert "text" not in constant.columns
    assert {"text", "cue_claims", "interview_ccc"} <= reader.columns.keys()
    assert reader.columns["skill"] > 0.3 > shortcut.columns["skill"]
    assert reader.columns["explanation"] > 20
    assert set(ceiling.targets) == set(read_settings(computed / "reference" / "task.yaml").names)
    assert "failed_clips" not in reader.columns


def test_the_command_writes_the_page_and_a_second_time_nothing(computed: Path) -> None:
    page = computed / "pages" / "evaluation.md"
    text = page.read_text()
    assert text.startswith("# Evaluation")
    assert "\n\n| score |" in text
    assert "\n\nMore.\n" in text
    assert "| Accuracy | " in text
    before = (text, record_of(computed))
    assert baselines(computed) == 0
    assert (page.read_text(), record_of(computed)) == before


@pytest.mark.parametrize("open_", [True, False])
def test_a_closed_phases_page_is_rough_and_silent_on_shortcuts(computed: Path, open_: bool) -> None:
    text = table(record_of(computed), load(computed).columns, open_=open_)
    header = text.splitlines()[0]
    assert ("Noise ceiling" in header, "Labels of the same person" in header) == (open_, open_)
    accuracy = next(line for line in text.splitlines() if line.startswith("| Accuracy"))
    assert {len(cell.strip().partition(".")[2]) for cell in accuracy.split("|")[2:-1]} == {3 if open_ else 2}


def codes(root: Path) -> set[str]:
    return {finding.code for finding in check_landmarks(draft_of(root))}


def test_current_landmarks_are_silent(copy: Path) -> None:
    assert codes(copy) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        ("given/clips.csv", "0" * 64, "1" * 64, True),
        ("given/exchanges.json", "aaaa", "bbbb", True),
        ("given/task.yaml", "edits: 3", "edits: 2", True),
        ("given/task.yaml", "600", "300", False),
        ("reference/labels.csv", "\n", "\r\n", False),
        ("reference/labels.csv", ",0.", ",0.1", True),
        ("reference/causes.json", "0.12", "0.11", True),
        ("reference/task.yaml", "constant: 0.5", "constant: 0.4", True),
        ("reference/task.yaml", "title: Interview", "title: Job", False),
        ("reference/task.yaml", "resamples: 50", "resamples: 60", False),
    ],
)
def test_landmarks_are_stale_when_what_they_hang_on_changed(
    copy: Path, file: str, old: str, new: str, stale: bool
) -> None:
    before = fingerprint(DataFiles(copy / "given"), DataFiles(copy / "reference"))
    swap(copy / file, old, new)
    assert (fingerprint(DataFiles(copy / "given"), DataFiles(copy / "reference")) != before) == stale
    assert ("landmarks-stale" in codes(copy)) == stale


def test_missing_landmarks_are_found(copy: Path) -> None:
    (copy / "reference" / "landmarks.json").unlink()
    assert codes(copy) == {"landmarks-missing"}
    swap(copy / "reference" / "task.yaml", "landmarks: landmarks.json", "")
    assert codes(copy) == set()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda root: (root / "reference/task.yaml").unlink(), "expected a phase whose reference data are a folder"),
        (lambda root: swap(root / "runs/flat/ingestion_output/run.json", "practice", "final"), "runs of practice"),
        (lambda root: swap(root / "reference/labels.csv", ",0.", ",7."), "The labels have mistakes"),
        (lambda root: (root / "runs/flat/ingestion_output/manifest.json").unlink(), "flat"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_named(
    copy: Path, spoil: object, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(spoil)
    spoil(copy)
    assert baselines(copy) == 1
    assert message in capsys.readouterr().err


def test_predictions_for_people_who_were_left_out_stand_beside_the_run(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swap(
        copy / "competition.yaml",
        "leaderboards:",
        "solutions: [{index: 0, path: solutions/net/, tasks: [0]}]\nleaderboards:",
    )
    settings = read_settings(copy / "reference" / "task.yaml")
    names, low = list(settings.names), np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    truth, errors = np.array([[0.2], [0.8], [0.5]]), np.array([[0.1], [-0.1], [0.1]])
    clips = [
        {"labels": list(low + span * one), "predicted": list(low + span * (one + error))}
        for one, error in zip(truth, errors, strict=True)
    ]
    unseen = copy / "solutions/net/unseen.json"
    write_files(copy, {"solutions/net/unseen.json": json.dumps({"targets": names, "clips": clips})})
    assert baselines(copy) == 0
    items = read_landmarks(copy / "reference", settings).items
    assert [item.key for item in items] == ["constant", "look_up", "reader", "net_unseen", "ceiling"]
    found = items[3]
    assert (found.kind, found.title) == ("solution", "Net, cross-validated")
    assert found.columns["interview_accuracy"] == pytest.approx(0.9)
    assert not {"explanation", "text"} & found.columns.keys()
    assert found.targets["interview"]["pearson"] == pytest.approx(
        np.corrcoef(truth[:, 0], (truth + errors)[:, 0])[0, 1]
    )
    unseen.write_text(json.dumps({"targets": names[1:], "clips": clips}))
    assert baselines(copy) == 1
    assert "unseen.json: expected the targets" in capsys.readouterr().err
    unseen.write_text("{}")
    assert baselines(copy) == 1
    assert "unseen.json: expected clips with labels" in capsys.readouterr().err


def test_a_phase_names_its_landmarks_once_there_are_some(copy: Path) -> None:
    before = (copy / "reference/task.yaml").read_text()
    swap(copy / "reference" / "task.yaml", "landmarks: landmarks.json", "")
    (copy / "reference" / "landmarks.json").unlink()
    assert baselines(copy) == 0
    settings = (copy / "reference/task.yaml").read_text()
    assert yaml.safe_load(settings) == yaml.safe_load(before)
    assert (copy / "reference" / "landmarks.json").is_file()
