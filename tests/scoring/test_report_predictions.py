"""The section on predictions: plots that say what the numbers say, groups, landmarks; and what a closed phase hides."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from score.landmarks import Landmark, Landmarks
from score.report.drawings import MOST_DOTS, calibration, residuals, scatter
from score.report.predictions import stated_error
from score.report.write import report_page
from score.settings import Target
from tests.scoring.canary import CAUSE, CONSTANT, SOURCES, canary_case, leaks, secrets
from tests.scoring.conftest import Score
from tests.scoring.factory import NAMES, Case, make_case
from tests.scoring.pages import CLIPS_ONLY, HIDDEN, OPEN, Page, page_of, scored_of

Array = NDArray[np.float64]
UNIT = Target("interview", "Interview", 0.0, 1.0, 0.5)
PERCENT = Target("interview", "Interview", 0.0, 100.0, 50.0)
LANDMARKS = Landmarks(
    "0f" * 32,
    (
        Landmark("constant", "constant", "Constant", "The mean.", {"skill": 0.0}, {"interview": {"accuracy": 0.7551}}),
        Landmark("reader", "solution", "Reader", "One.", {"skill": 0.61234}, {"interview": {"accuracy": 0.9551}}),
    ),
)  # fmt: skip


def case_with_groups(people: int = 20, **settings: Any) -> Case:  # noqa: ANN401 - any setting
    """Two clips a person; people of the second half are flattered."""
    case = make_case(clips=2 * people, groups="groups.csv", landmarks="landmarks.json", **settings)
    rows = [
        f"person-{n},{'late' if n >= people // 2 else 'early'},{'rare' if n < 3 else 'usual'}" for n in range(people)
    ]
    case.groups = "\n".join(["source_id,order,half", *rows])
    flattered = np.array([int(source.split("-")[1]) >= people // 2 for source in case.sources])
    case.prediction = np.clip(case.truth + 0.15 * flattered[:, None], 0, 1)
    return unexplained(case)


def unexplained(case: Case) -> Case:
    """Leave out what this section does not need: explanations, and what measures them."""
    case.explain, case.probes, case.repeats = lambda _: None, None, None
    return case


def training_of(error: float, people: int = 120) -> dict[str, Any]:
    """What a submission states that predicts people who were left out with this error, in every target."""
    return {"training": {"people": people, "grouped_by": "source_id", "error": dict.fromkeys(NAMES, error)}}


def off_by(error: float, clips: int = 48) -> Case:
    """Predictions that are off by this much in the mean, by another amount for each person."""
    case = make_case(clips=clips)
    people = np.unique(case.sources, return_inverse=True)[1]
    rng = np.random.default_rng(3)
    sizes = rng.uniform(0.5, 1.5, people.max() + 1)[people][:, None] * rng.choice([-1, 1], case.truth.shape)
    case.truth = rng.uniform(0.3, 0.7, case.truth.shape)
    case.prediction = case.truth + error * sizes / np.abs(sizes).mean()
    return unexplained(case)


@pytest.mark.parametrize(
    ("here", "stated", "people", "too_good"),
    [
        (0.02, 0.04, 120, True),
        (0.039, 0.04, 120, False),
        (0.04, 0.04, 120, False),
        (0.08, 0.04, 120, False),
        (0.033, 0.04, 10_000, True),
        (0.033, 0.04, 2, False),  # a mean over two people says little
        (0.002, 0.04, 9, False),  # of so few, even intervals say little
        (0.002, 0.04, 10, True),
    ],
)
def test_practice_is_compared_with_people_who_were_left_out(
    here: float, stated: float, people: int, too_good: bool, tmp_path: Path
) -> None:
    case = off_by(here)
    case.run = training_of(stated, people)
    page = page_of(tmp_path, case)
    assert f"states a mean absolute error of {stated:.3f} of the range. Here it is {here:.3f} (" in page.text
    assert page.text.count("better than the submission's own cross-validation explains") == too_good
    assert ("That is too good." in page.text) == too_good
    assert page.tables["targets"][1][1].endswith(f"left out {1 - stated:.3f}")


def test_failed_clips_count_and_a_range_is_no_unit(tmp_path: Path) -> None:
    case = off_by(0.02)
    case.run = training_of(0.04)
    case.statuses[:12] = ["failed"] * 12
    assert "That is too good." not in page_of(tmp_path / "failed", case).text
    wide = off_by(0.02)
    for target in wide.settings["targets"]:
        target |= {"minimum": 0.0, "maximum": 100.0, "constant": 50.0}
    wide.truth, wide.prediction = 100 * wide.truth, 100 * wide.prediction
    wide.settings["skill_reference"] = dict.fromkeys(NAMES, 3.5)
    wide.run = training_of(4.0)
    assert "states a mean absolute error of 0.040 of the range. Here it is 0.020 (" in page_of(tmp_path, wide).text


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY])
def test_a_closed_phase_compares_nothing(report: dict[str, Any], tmp_path: Path) -> None:
    case = unexplained(make_case(report=report))
    case.run = training_of(0.3)
    assert stated_error(scored_of(tmp_path / "run", case)) is None
    page = page_of(tmp_path, case)
    assert not re.search("cross-validation|left out of training|too good", page.text)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"people": 1},
        {"people": "many"},
        {"error": {}},
        {"error": dict.fromkeys(NAMES, -1.0)},
        {"error": dict.fromkeys(NAMES, "0.1")},
        {"error": None},
    ],
)
def test_a_broken_statement_is_none(spoiled: dict[str, Any], tmp_path: Path) -> None:
    case = off_by(0.02)
    case.run = {"training": training_of(0.04)["training"] | spoiled}
    assert "left out of training" not in page_of(tmp_path, case).text


def test_a_point_is_where_its_clip_is_whatever_the_range() -> None:
    truth, predicted = np.array([0.2, 0.9]), np.array([0.25, 0.4])
    plot = scatter(truth, predicted, UNIT)
    assert plot["dots"] == [(25.0, 20.0), (40.0, 90.0)]
    assert scatter(100 * truth, 100 * predicted, PERCENT)["dots"] == plot["dots"]
    assert plot["summary"].startswith("2 clips; 50\N{NO-BREAK SPACE}% lie within a tenth")


def test_many_clips_become_shades_that_hold_all_of_them() -> None:
    truth = np.random.default_rng(0).uniform(0, 1, MOST_DOTS + 1)
    plot = scatter(truth, np.full_like(truth, 0.999), UNIT)
    assert plot["dots"] == []
    cells = [cell for _, held in plot["shades"] for cell in held]
    assert len(cells) == len(set(cells))
    assert {column for column, _ in cells} == {plot["cells"] - 1}
    assert {row for _, row in cells} == set((truth * plot["cells"]).astype(int).tolist())
    assert max(float(opacity) for opacity, _ in plot["shades"]) == 1
    assert len(scatter(truth[:-1], truth[:-1], UNIT)["dots"]) == MOST_DOTS


def calibrated(truth: Array, predicted: Array) -> dict[str, Any]:
    return calibration(truth, predicted, np.arange(len(truth)), lambda sums: sums[:0], 0.95)


def test_perfect_predictions_are_calibrated_and_halved_ones_are_not() -> None:
    truth = np.linspace(0.1, 0.9, 41)
    perfect = calibrated(truth, truth)
    assert sum(one["clips"] for one in perfect["bins"]) == 41
    assert all((one["predicted"], one["interval"]) == (one["truth"], None) for one in perfect["bins"])
    assert "slope 1.00" in perfect["summary"]
    assert "slope 2.00" in calibrated(truth, 0.25 + truth / 2)["summary"]
    assert calibrated(truth, np.full(41, 0.5))["summary"] == "all predictions are the same"
    alike = calibrated(truth, 0.5 + 1e-4 * truth[::-1])["summary"]
    assert alike == "the predictions hardly differ"
    assert len(calibrated(truth[:7], truth[:7])["bins"]) == 1  # too few clips for two


def test_the_intervals_of_bins_are_those_of_a_plain_bootstrap() -> None:
    draw = np.random.default_rng(1)
    truth = draw.uniform(0, 1, 8)
    people = np.array([0, 0, 1, 2, 3, 3, 3, 1])
    weights = draw.multinomial(4, [1 / 4] * 4, size=400).astype(float)
    first = calibration(truth, np.arange(8) / 8, people, lambda sums: weights @ sums, 0.95)["bins"][0]
    drawn = [truth[:4].repeat(row[people[:4]].astype(int)) for row in weights]
    means = [values.mean() for values in drawn if len(values)]
    assert first["interval"] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1e-4)


def test_residuals_are_counted_once_and_their_scale_reaches_over_the_largest() -> None:
    off = np.array([-0.21, 0.0, 0.0, 0.05, 0.1])
    plot = residuals(np.full(5, 0.5), 0.5 + off, UNIT)
    assert sum(clips for _, _, clips, _ in plot["bars"]) == 5
    assert max(height for *_, height in plot["bars"]) == 100
    assert plot["end"] == pytest.approx(0.3)
    assert plot["summary"] == "mean −0.012, half within ±0.050"
    exact = residuals(np.full(3, 0.5), np.full(3, 0.5), UNIT)
    assert [bar[2:] for bar in exact["bars"]] == [(3, 100.0)]


def test_an_open_page_has_plots_landmarks_and_groups_and_escapes_what_the_organiser_wrote(tmp_path: Path) -> None:
    case = case_with_groups(report=OPEN, selection_threshold=0.5)
    case.groups = case.groups.replace(",late,", ",late<i>,")
    text = report_page(scored_of(tmp_path, case, landmarks=LANDMARKS))
    assert "late&lt;i&gt;" in text
    assert "<i>" not in text
    page = Page(text)
    drawings = re.findall(r'<details class="drawings"( open)?>\n<summary>(\w+)', text)
    assert drawings[0] == (" open", "Interview")
    assert [opened for opened, _ in drawings[1:]] == [""] * 5
    assert text.count('<circle class="dot"') == 6 * 40
    measured = [row for row in page.tables["targets"] if len(row) == 6][1:]
    assert [["constant" in cell for cell in row] for row in measured] == [[False, True, True, False, False, False]] * 6
    headings, *accuracy = [row for row in page.tables["targets"] if len(row) == 4][:7]
    assert headings == ["1 - MAE", "This run", "Constant", "Reader"]
    values = {title: others for title, _, *others in accuracy}
    assert (values["Interview"], values["Openness"]) == (["0.755", "0.955"], ["–", "–"])
    # Two tables of the attribute that can be compared: the main target, then every target.
    main, every = (rows for rows in (page.tables["gaps"][1:3], page.tables["gaps"][4:]))
    assert [row[0] for row in main] == ["early", "late<i>"]
    (early, late) = (row[2] for row in main)
    assert early.startswith("0.000")
    assert re.fullmatch(r"\+0\.1\d\d\+0\.\d{3} to \+0\.\d{3}", late)
    assert all("few" in row[1] for row in main)
    assert {len(row) for row in every} == {8}
    points = [float(at) for at in re.findall(r'cx="([\d.]+)%" cy="10"', text)]
    assert points[0] == 50 < points[1] <= 100
    for words in (
        *("Groups of people", "Calibration", "The numbers behind these plots", "Compared with baselines"),
        *("fewer than 30 people", "1 group with fewer than 5 people left out.", "needs two groups", "at least 0.500."),
    ):
        assert words in page.text


def test_without_any_prediction_nothing_is_drawn(tmp_path: Path) -> None:
    case = make_case(clips=4, statuses=["failed"] * 4, report=OPEN)
    assert "Calibration" not in page_of(tmp_path, case).text


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY])
def test_a_closed_phase_draws_nothing_and_says_one_rough_line_of_an_attribute(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    page = page_of(tmp_path, case_with_groups(report=report), landmarks=LANDMARKS)
    assert not {"gaps", "targets"} & page.tables.keys()
    assert "Shown only if every group has 30 people or more" in page.text
    assert "Groups of people" not in page.text
    assert "Calibration" not in page.text
    large = page_of(tmp_path / "large", case_with_groups(people=60, report=report))
    assert "is at least the median of the labels." in large.text
    [sentence] = re.findall(r"2 groups\. Largest mean residual 0\..*", large.text)
    numbers = [word.strip(".,") for word in sentence.split() if word[0].isdigit()]
    assert [len(word.partition(".")[2]) for word in numbers if word != "30"] == [0, 1, 1, 1]


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY])
def test_a_closed_page_names_no_group_and_no_exact_landmark(score: Score, report: dict[str, Any]) -> None:
    case = canary_case(report)
    case.settings |= {"groups": "groups.csv", "landmarks": "landmarks.json"}
    songs = ["melodious"] * 5 + ["shrill"]
    case.groups = "\n".join(["source_id,song", *(f"{one},{song}" for one, song in zip(SOURCES, songs, strict=True))])
    numbers = {"interview_accuracy": CONSTANT, "skill": CAUSE}
    landmark = {"title": "x", "meaning": "x", "columns": numbers, "targets": {"interview": {"ccc": CAUSE}}}
    kinds = ("constant", "shortcut", "solution", "ceiling")
    case.landmarks = {
        "format_version": 1,
        "data_sha256": "0f" * 32,
        "landmarks": [landmark | {"key": kind, "kind": kind} for kind in kinds],
    }
    done = score(case)
    assert done.code == 0
    assert "Groups by " in done.page
    assert "x 0.57" in done.page or ">0.57<" in done.page  # the landmark, roughly
    assert not any(word in done.page + done.log for word in ("melodious", "shrill"))
    assert leaks(done, secrets(clips=not report["clips"])) == []
