"""The section on predictions: plots that say what the numbers say, groups, landmarks; and what a closed phase hides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from score.read.reference.landmarks import Landmark, Landmarks
from score.report.beside import Beside
from score.report.group_gaps import group_gaps
from score.report.plots import MOST_DOTS, calibration, residuals, scatter
from score.report.predictions import predictions
from score.report.scored import Scored
from score.report.write import report_page
from score.settings import Target
from tests.scoring.canary import CAUSE, CONSTANT, SOURCES, canary_case, leaks, secrets
from tests.scoring.conftest import Score
from tests.scoring.factory import Case, make_case
from tests.scoring.pages import CLIPS_ONLY, HIDDEN, OPEN, Page, scored_of

Array = NDArray[np.float64]
UNIT = Target("interview", "Interview", 0.0, 1.0, 0.5)
PERCENT = Target("interview", "Interview", 0.0, 100.0, 50.0)
NO_WEIGHTS = np.empty((0, 0))
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
    return case


def scored(tmp_path: Path, report: dict[str, Any], **settings: Any) -> Scored:  # noqa: ANN401 - any setting
    return scored_of(tmp_path, case_with_groups(report=report, **settings), Beside(landmarks=LANDMARKS))


def test_a_point_is_where_its_clip_is_whatever_the_range() -> None:
    truth, predicted = np.array([0.2, 0.9]), np.array([0.25, 0.4])
    plot = scatter(truth, predicted, UNIT)
    assert [(dot.x, dot.y) for dot in plot.dots] == [(25.0, 20.0), (40.0, 90.0)]
    assert scatter(100 * truth, 100 * predicted, PERCENT).dots == plot.dots
    assert plot.caption.startswith("2 clips; 50\N{NO-BREAK SPACE}% lie within a tenth")
    assert [text for _, text in scatter(truth, predicted, PERCENT).ticks] == ["0", "50", "100"]


def test_many_clips_become_shades_that_hold_all_of_them() -> None:
    draw = np.random.default_rng(0)
    truth = draw.uniform(0, 1, MOST_DOTS + 1)
    plot = scatter(truth, np.full_like(truth, 0.999), UNIT)
    assert plot.dots == ()
    cells = [cell for shade in plot.shades for cell in shade.cells]
    assert len(cells) == len(set(cells))
    assert {column for column, _ in cells} == {plot.cells - 1}
    assert {row for _, row in cells} == set((truth * plot.cells).astype(int).tolist())
    assert max(float(shade.opacity) for shade in plot.shades) == 1
    assert len(scatter(truth[:-1], truth[:-1], UNIT).dots) == MOST_DOTS


def test_perfect_predictions_are_calibrated_and_halved_ones_are_not() -> None:
    truth = np.linspace(0.1, 0.9, 41)
    perfect = calibration(truth, truth, NO_WEIGHTS.reshape(0, 41), 0.95, UNIT)
    assert sum(one.clips for one in perfect.bins) == 41
    assert all(one.at.x == one.at.y for one in perfect.bins)
    assert "slope 1.00" in perfect.caption
    assert "slope 2.00" in calibration(truth, 0.25 + truth / 2, NO_WEIGHTS.reshape(0, 41), 0.95, UNIT).caption
    assert (
        "all predictions are the same"
        in calibration(truth, np.full(41, 0.5), NO_WEIGHTS.reshape(0, 41), 0.95, UNIT).caption
    )
    assert [one.interval for one in perfect.bins] == [None] * len(perfect.bins)


def test_the_intervals_of_bins_are_those_of_a_plain_bootstrap() -> None:
    draw = np.random.default_rng(1)
    truth = draw.uniform(0, 1, 8)
    weights = draw.multinomial(8, [1 / 8] * 8, size=400).astype(float)
    first = calibration(truth, np.arange(8) / 8, weights, 0.95, UNIT).bins[0]
    means = [np.repeat(truth[:4], row[:4].astype(int)).mean() for row in weights if row[:4].any()]
    assert first.interval == pytest.approx(100 * np.quantile(means, [0.025, 0.975]), abs=0.01)


def test_residuals_are_counted_once_and_their_scale_reaches_over_the_largest() -> None:
    off = np.array([-0.21, 0.0, 0.0, 0.05, 0.1])
    plot = residuals(np.full(5, 0.5), 0.5 + off, UNIT)
    assert sum(bar.clips for bar in plot.bars) == 5
    assert max(bar.height for bar in plot.bars) == 100
    assert plot.ticks[0] == (0.0, "−0.30")
    assert plot.caption == "Predicted minus true: mean −0.012, half of them within ±0.050."
    exact = residuals(np.full(3, 0.5), np.full(3, 0.5), UNIT)
    assert [(bar.clips, bar.height) for bar in exact.bars] == [(3, 100.0)]


def test_an_open_phase_draws_every_target_the_main_one_first(tmp_path: Path) -> None:
    section = predictions(scored(tmp_path, OPEN))
    assert [one.main for one in section.plots] == [True] + [False] * 5
    assert len(section.plots[0].scatter.dots) == 40


def test_without_any_prediction_nothing_is_drawn(tmp_path: Path) -> None:
    case = make_case(clips=4, statuses=["failed"] * 4, report=OPEN)
    assert predictions(scored_of(tmp_path, case)).plots == ()


def test_targets_stand_beside_landmarks_where_those_are_exact(tmp_path: Path) -> None:
    accuracy, _ = predictions(scored(tmp_path / "open", OPEN)).comparisons
    assert accuracy.names == ("This run", "Constant", "Reader")
    values = dict(accuracy.rows)
    assert values["Interview"][1:] == ("0.755", "0.955")
    assert values["Openness"][1:] == ("–", "–")
    assert predictions(scored(tmp_path / "closed", HIDDEN)).comparisons == ()


def test_groups_are_told_with_intervals_and_small_ones_left_out(tmp_path: Path) -> None:
    gaps = group_gaps(scored(tmp_path, OPEN, selection_threshold=0.5))
    assert gaps is not None
    order, half = gaps.attributes
    assert (order.title, [row.name for row in order.rows]) == ("Order", ["early", "late"])
    early, late = order.rows
    assert early.residual.value == "0.000"
    assert late.residual.value.startswith("+0.1")
    assert " to " in late.residual.interval
    assert early.line is not None
    assert late.line is not None
    assert early.line.at == 50 < late.line.at <= 100
    assert len(late.residuals) == len(gaps.target_titles) == 6
    assert late.few
    assert "Fewer than 30 people" in order.note
    assert half.rows == ()
    assert half.note == "1 group of fewer than 5 people left out."
    assert half.sentence.startswith("Nothing to compare")
    assert gaps.rule.endswith("is at least 0.500.")


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY])
def test_a_closed_phase_draws_nothing_and_says_one_rough_line_of_an_attribute(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    section = predictions(scored(tmp_path, report))
    assert section.plots == ()
    assert section.groups is not None
    assert [attribute.rows for attribute in section.groups.attributes] == [(), ()]
    assert "Nothing is said here before each has 30 people" in section.groups.attributes[0].sentence
    large = predictions(scored_of(tmp_path / "large", case_with_groups(people=60, report=report)))
    assert large.groups is not None
    sentence = large.groups.attributes[0].sentence
    assert sentence.startswith("2 groups. Largest mean residual 0.")
    numbers = [word.strip(".,") for word in sentence.split() if word[0].isdigit()]
    assert [len(word.partition(".")[2]) for word in numbers] == [0, 1, 1, 1]
    assert section.groups.rule.endswith("is at least the median of the labels.")


def test_the_page_shows_it_all_and_escapes_what_the_organiser_wrote(tmp_path: Path) -> None:
    case = case_with_groups(report=OPEN)
    case.groups = case.groups.replace(",late,", ",<i>late</i>,")
    page = report_page(scored_of(tmp_path, case, Beside(landmarks=LANDMARKS)))
    assert "&lt;i&gt;late" in page
    assert "<i>" not in page
    text = Page(page).text
    for words in ("Groups of people", "Calibration", "The numbers behind these plots", "Beside baselines"):
        assert words in text
    assert page.count('<circle class="dot"') == 6 * 40


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
    assert "Groups of people" in done.page
    assert "x 0.57" in done.page or ">0.57<" in done.page  # the landmark, roughly
    assert not any(word in done.page + done.log for word in ("melodious", "shrill"))
    assert leaks(done, secrets(clips=not report["clips"])) == []
