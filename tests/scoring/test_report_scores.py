"""The first screen: words, factors and advice say what the numbers say."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from score.axes.registry import OF_CAUSES, REGISTRY
from score.landmarks import Landmark, Landmarks
from score.report.advice import axis_advice, factors
from score.report.first_screen import _tone, first_screen
from score.report.page import NONE, ceiling, factor, interval, number, percent, plural, position, signed
from score.report.write import report_page
from score.settings import AXES, ExplanationScore
from tests.scoring.conftest import Score
from tests.scoring.factory import NAMES, Case, full_explanation, honest_probes, make_case, recorded
from tests.scoring.pages import HIDDEN, OPEN, Page, scored_of

SHORTFALLS = {shortfall.key: shortfall for axis in REGISTRY.values() for shortfall in axis.error_analysis}
NOTHING_LOST = {key: float(shortfall.complement) for key, shortfall in SHORTFALLS.items()}
unit = st.floats(0, 1)


def screen(folder: Path, case: Case, **more: Any) -> SimpleNamespace:  # noqa: ANN401 - any field of a run
    return SimpleNamespace(**first_screen(scored_of(folder, case, **more)))


@pytest.mark.parametrize(
    ("total", "word"),
    [(0, "at chance"), (4.9, "at chance"), (5, "weak"), (39.9, "fair"), (40, "good"), (65, "excellent"),
     (99, "excellent")],
)  # fmt: skip
def test_words_begin_at_their_limits(total: float, word: str) -> None:
    assert ExplanationScore().word(total) == word


def test_the_settings_have_other_words(tmp_path: Path) -> None:
    case = make_case(explanation_score={"bands": {"meagre": 0, "splendid": 1}})
    scores = screen(tmp_path, case)
    assert (scores.band, scores.bands) == ("splendid", [("meagre", 0, 1), ("splendid", 1, 100)])


@given(axes=st.lists(unit, min_size=5, max_size=5), coverage=unit, skill=unit, causes=st.booleans())
def test_the_factors_multiply_to_the_total_and_no_change_for_the_better_loses(
    axes: list[float], coverage: float, skill: float, causes: bool
) -> None:
    values = dict(zip(AXES, axes, strict=True)) | {"coverage": coverage}
    score = ExplanationScore()
    applied = [name for name in AXES if name != "known_causes" or causes]
    weights = np.array([getattr(score.weights, name) for name in applied])
    mean = (weights @ np.sqrt([values[name] for name in applied]) / weights.sum()) ** 2
    total = 100 * coverage * skill * mean
    parts = factors(values | {"explanation": total}, score, frozenset() if causes else OF_CAUSES)
    assert parts.total == pytest.approx(total, abs=1e-9)
    if total > 1e-6:
        assert parts.skill_factor == pytest.approx(skill)
    for name in parts.axes:
        assert -1e-9 <= parts.gain({name: 1.0}) <= 100 - total + 1e-9
    assert parts.gain(coverage=1.0, skill_factor=1.0, axes=dict.fromkeys(applied, 1.0)) == pytest.approx(100 - total)


@pytest.mark.parametrize("report", [OPEN, HIDDEN], ids=["open", "closed"])
def test_the_page_shows_numbers_from_which_everybody_can_compute_the_total_again(
    score: Score, report: dict[str, Any]
) -> None:
    done = score(make_case(clips=12, report=report))
    rows = {row[0]: row[1:] for row in Page(done.page).tables["sum"][1:]}
    axes = {name: [float(cell) for cell in cells] for name, cells in rows.items() if len(cells) == 4}
    assert len(axes) == 5
    for value, root, weight, product in axes.values():
        assert root == pytest.approx(value**0.5, abs=2e-6 if report is OPEN else 1e-3)
        assert product == pytest.approx(root * weight, abs=2e-4)
    shown = {name.partition(" (")[0]: float(cells[-1]) for name, cells in rows.items() if len(cells) == 1}
    summed = sum(product for *_, product in axes.values())
    assert shown["Σ weight × √axis"] == pytest.approx(summed, abs=3e-6)
    assert shown["(Σ weight × √axis)²"] == pytest.approx(summed**2, abs=6e-6)
    total = 100 * summed**2 * shown["× coverage"] * shown["× skill factor"]
    assert f"{total:.2f}" == f"{shown['× 100 = explanation score']:.2f}" == f"{done.scores['explanation']:.2f}"
    [line] = re.findall(r'<p class="product">(.*)</p>', done.page)
    factors_shown = [float(one) for one in re.findall(r"<b>([\d.]+)</b>", line)]
    assert len(factors_shown) == 3
    assert f"{100 * np.prod(factors_shown):.2f}" == f"{total:.2f}"


def test_errors_are_told_on_the_first_screen(score: Score) -> None:
    case = make_case(clips=6)
    assert 'class="alert"' not in score(case).page
    case.problems = {case.clip_ids[0]: [recorded("text_too_short")]}
    first, _, rest = score(case).page.partition('id="axes"')
    assert "1 error to correct" in re.sub(r"<[^>]+>", "", first)
    assert 'href="#yours"' in first
    assert 'id="yours"' in rest


def test_invalid_texts_and_answers_are_told_on_the_first_screen(score: Score) -> None:
    case = make_case(clips=6)
    case.explain = lambda clip_id: (
        full_explanation(clip_id) | {"text": "See https://example.org for what raised the score."}
    )
    first, *_ = score(case).page.partition('id="axes"')
    assert re.search(r'class="alert"><strong>100\s%', first)
    case = make_case(clips=6)
    case.run = {"problems": [recorded("probes_unanswered") | {"severity": "warning"}]}
    first, *_ = score(case).page.partition('id="axes"')
    assert "probes_unanswered</bdi>" in first.partition('class="alert"')[2]


@pytest.mark.parametrize(
    ("step", "steps", "tone"),
    [(0, 5, "chance"), (1, 5, "low"), (2, 5, "middle"), (3, 5, "high"), (4, 5, "high"), (0, 1, "chance"),
     (1, 2, "high")],
)  # fmt: skip
def test_the_colour_of_a_band_fits_its_word(step: int, steps: int, tone: str) -> None:
    assert _tone(step, steps) == tone


def silent(clip_id: str) -> dict[str, Any]:
    said = full_explanation(clip_id)
    return said | {"evidence": said["evidence"] | {"time": None}}


def test_what_would_gain_most_comes_first(tmp_path: Path) -> None:
    case = make_case()
    case.explain = silent
    scores = screen(tmp_path, case)
    gains = [int(found.group()) for item in scores.advice if (found := re.search(r"\d+", item.gain))]
    assert gains == sorted(gains, reverse=True)
    assert 3 <= len(scores.advice) <= 5
    time = next(item for item in scores.advice if "Return a temporal attribution" in item.sentence)
    said = r"Known causes is 0\.\d+\. Faithfulness in time is 0\.\d+\. "
    said += r"100\s% of the clips have no valid temporal attribution\."
    assert re.fullmatch(said, time.evidence)


@pytest.mark.parametrize("causes", [True, False])
def test_the_weights_of_the_axes_that_count_add_up(tmp_path: Path, causes: bool) -> None:
    case = make_case(clips=4)
    if not causes:
        del case.settings["causes"]
    shown = [row.weight for row in screen(tmp_path, case).axes]
    assert len(shown) == 4 + causes
    assert sum(shown) == pytest.approx(1)


WORTHLESS = "Predict better than the training mean: without that, explanations hardly count."


@pytest.mark.parametrize(
    ("status", "turned", "sentence", "evidence"),
    [
        ("failed", False, "Get a prediction for every clip.", "4 of 6 clips have no prediction.*predict_raised"),
        ("not_reached", False, "Make the model faster: time ran out.", "4 of 6 clips"),
        ("ok", True, WORTHLESS, "The skill over the constant is −"),
    ],
)
def test_what_makes_all_else_pointless_comes_first(
    tmp_path: Path, status: str, turned: bool, sentence: str, evidence: str
) -> None:
    case = make_case(clips=6, statuses=[status] * 4 + ["ok"] * 2)
    case.prediction = 1 - case.truth if turned else case.prediction
    unexplained = recorded("evidence_invalid", "explain")  # more often, but it costs no prediction
    case.problems = {clip: [unexplained] for clip in case.clip_ids}
    case.problems |= {clip: [recorded("predict_raised"), unexplained] for clip in case.clip_ids[:4]}
    first = screen(tmp_path, case).advice[0]
    assert first.sentence == sentence
    assert re.match(evidence, first.evidence)


@pytest.mark.parametrize(
    ("asked", "late", "told"), [(10, 0, False), (29, 11, True), (37, 3, False), (40, 0, False), ("29", 0, False)]
)
def test_copies_that_were_not_reached_are_a_reason_to_hurry(
    tmp_path: Path, asked: object, late: int, told: bool
) -> None:
    case = make_case(clips=12)
    case.probes = lambda of: [call for call in honest_probes(of) if call["clip_id"] in of.clip_ids[:9]]
    case.run = {"probes": {"planned": 40, "asked": asked, "answered": 20 if asked == 10 else 29}, "time_limit_s": 600}
    scores = screen(tmp_path, case)
    faster = "Make the model faster: perturbed copies were not reached."
    hurry = [one for one in scores.advice if one.sentence == faster]
    assert bool(hurry) == told
    if told:
        assert hurry[0].evidence.startswith("11 of 40 perturbed copies")
    (_, _, note, tone), *_ = (item for item in scores.status if item[0] == "Time")
    assert (f"{late} perturbed copies not reached" in note) == bool(late)
    assert (tone == "warning") == bool(late)


@pytest.mark.parametrize("hit", [0, 1], ids=["nothing is right", "next to nothing is right"])
def test_worthless_predictions_come_first_where_the_explanations_are_poor_too(tmp_path: Path, hit: int) -> None:
    case = make_case()
    case.prediction[:, hit:] = 1 - case.truth[:, hit:]
    case.prediction[:, :hit] = 0.5 + 0.05 * (case.truth[:, :hit] - 0.5)
    case.explain = lambda _: {"text": "Because of the smile.", "evidence": None}
    first, *others = screen(tmp_path, case).advice
    assert first.sentence == WORTHLESS
    # What it alone would gain is next to nothing here, and saying so would mislead.
    assert first.gain == ""
    assert others[0].gain


@pytest.mark.parametrize("key", SHORTFALLS)
def test_each_shortfall_is_advised_on_its_axes_and_what_lost_nothing_has_no_figure(key: str) -> None:
    shortfall = SHORTFALLS[key]
    for axis in REGISTRY.values():
        shares = NOTHING_LOST | {key: 0.58 if shortfall.complement else 0.42}
        figure = f"42\N{NO-BREAK SPACE}% {shortfall.finding}"
        expected = (shortfall.advice, figure) if shortfall in axis.error_analysis else (axis.otherwise, "")
        assert axis_advice(axis, shares) == expected
        assert axis_advice(axis, dict.fromkeys(SHORTFALLS)) == axis_advice(axis, NOTHING_LOST) == (axis.otherwise, "")


def test_what_holds_for_most_clips_is_advised_first() -> None:
    axis, shares = REGISTRY["cue_claims"], NOTHING_LOST | {"no_claims": 0.17, "wrong_sign": 0.4, "silent": 0.2}
    assert axis_advice(axis, shares)[1].startswith("40\N{NO-BREAK SPACE}% of the tested claims")
    first = axis_advice(axis, shares | {"no_claims": 0.4})[1]
    assert first.startswith("40\N{NO-BREAK SPACE}% of the clips have no claim")


def test_shortfalls_of_an_honest_and_of_a_contrary_account(tmp_path: Path) -> None:
    def contrary(clip_id: str) -> dict[str, Any]:
        said = full_explanation(clip_id)
        cues = [cue | {"contribution": -cue["contribution"]} for cue in said["evidence"]["cues"]]
        return said | {"text": "", "evidence": said["evidence"] | {"cues": cues}}

    honest = scored_of(tmp_path / "honest", make_case()).evaluation.error_analysis
    case = make_case()
    case.explain = contrary
    turned = scored_of(tmp_path / "turned", case).evaluation.error_analysis
    assert [honest[key] for key in ("wrong_sign", "no_space", "invalid_text", "space_reversed")] == [0, 0, 0, 0]
    assert [turned[key] for key in ("wrong_sign", "invalid_text")] == [1, 1]


def test_landmarks_stand_on_the_bars_and_in_the_evidence(tmp_path: Path) -> None:
    known = {"explanation": 69.99, "faithfulness_time": 0.9876, "interview_accuracy": 0.9589}
    solution = Landmark("cue_reader", "solution", "Cue reader", "An example.", known, {})
    second = Landmark("second", "solution", "Second", "An example.", {"explanation": 10.0}, {})
    landmarks = Landmarks("0" * 64, (solution, second))
    case = make_case()
    case.explain = silent
    scores = screen(tmp_path, case, landmarks=landmarks)
    marks = {(row.column.key, mark.title): mark for row in scores.rows for mark in row.marks}
    assert marks["explanation", "Cue reader"].position == 69.99
    assert marks["interview_accuracy", "Cue reader"].value == "0.959"
    assert marks["interview_accuracy", "Constant"].kind == "constant"
    assert ("text", "Cue reader") not in marks
    assert any("; Cue reader reaches 0.988." in item.evidence for item in scores.advice)
    assert [mark.title for mark in scores.compared] == ["Chance", "Constant", "Cue reader", "Second"]


def test_every_solution_has_a_shape_of_its_own_and_the_legend_says_which(tmp_path: Path) -> None:
    # The second has no total: its place among the marks of a bar is not its place among the solutions.
    known = {"First": {"explanation": 20.0, "skill": 0.4}, "Second": {"skill": 0.5}, "Third": {"explanation": 40.0}}
    items = tuple(Landmark(name.lower(), "solution", name, "An example.", one, {}) for name, one in known.items())
    page = report_page(scored_of(tmp_path, make_case(), landmarks=Landmarks("0" * 64, items)))
    marks = re.findall(r'class="mark solution" x="([\d.]+)%?".*?<path d="(.+?)"/></svg>\s+(?:</svg> (\w+)<)?', page)
    shapes = {name: path for _, path, name in marks if name}
    assert shapes.keys() == known.keys()
    assert "<strong>Second</strong>: An example.</p>" in page
    assert len(set(shapes.values())) == 3
    drawn = [(float(x), path) for x, path, name in marks if not name]
    places = {20.0: "First", 40.0: "Third", 70.0: "First", 75.0: "Second"}
    assert drawn == [(x, shapes[name]) for x, name in places.items()]


def test_bars_are_drawn_to_scale(tmp_path: Path) -> None:
    scored = scored_of(tmp_path, make_case())
    columns = {column.title: (column, estimate) for column, estimate in scored.evaluation.columns}
    page = report_page(scored)
    bars = re.findall(
        r'<p class="name">([^<]+?)(?: <span.*?)?</p>.*?<rect class="fill" x="(.+?)%" y="7" width="(.+?)%".*?'
        r'<rect class="interval" x="(.+?)%" y="11" width="(.+?)%"', page, re.DOTALL,
    )  # fmt: skip
    assert len(bars) == 10
    for title, *drawn in bars:
        column, one = columns[title]
        assert one.interval
        assert column.maximum
        zero, value, low, high = (
            100 * (number - column.minimum) / (column.maximum - column.minimum)
            for number in (max(0.0, column.minimum), one.value, *one.interval)
        )
        expected = [min(zero, value), abs(value - zero), low, high - low]
        assert [float(number) for number in drawn] == pytest.approx(expected, abs=0.011)
    [needle] = re.findall(r'class="needle".*? x="(.+?)%"', page)
    assert float(needle) == pytest.approx(columns["Explanation score"][1].value, abs=0.01)


def test_in_a_closed_phase_landmarks_are_as_rough_as_intervals(tmp_path: Path) -> None:
    case = make_case(report=HIDDEN)
    case.explain = silent
    value = next(
        one.value for column, one in scored_of(tmp_path, case).evaluation.columns if column.key == "faithfulness_time"
    )
    for known, said in ((round(value, 2), False), (value + 0.2, True)):
        solution = Landmark("cue_reader", "solution", "Cue reader", "An example.", {"faithfulness_time": known}, {})
        scores = screen(tmp_path, case, landmarks=Landmarks("0" * 64, (solution,)))
        assert {mark.kind for row in scores.rows for mark in row.marks} == {"chance", "solution"}  # no exact constant
        [mark] = [mark for row in scores.axes for mark in row.marks if mark.title == "Cue reader"]
        assert mark.value == f"{known:.2f}"
        assert any(f"Cue reader reaches {known:.2f}" in item.evidence for item in scores.advice) == said


def test_without_scripts_the_page_has_every_score(score: Score) -> None:
    done = score(make_case())
    text = Page(done.page).text
    for key, value in done.scores.items():
        if key in ("plausibility", "jury", "not_comparable"):  # nobody was asked
            assert key not in text
            continue
        assert key in text
        shown = f"{value:.3f}" if isinstance(value, float) and key not in ("explanation", "duration_s") else f"{value}"
        assert shown in text, key


def test_numbers_as_people_read_them() -> None:
    assert [number(-0.0004, 3), number(-0.5, 1), number(2, 0)] == ["0.000", "−0.5", "2"]
    assert [signed(0.25, 2), signed(-0.25, 2), signed(0.001, 2)] == ["+0.25", "−0.25", "0.00"]
    assert [percent(0.125), percent(0.125, 1), percent(-0.5)] == [
        "12\N{NO-BREAK SPACE}%",
        "12.5\N{NO-BREAK SPACE}%",
        "−50\N{NO-BREAK SPACE}%",
    ]
    assert [factor(value) for value in (0.0, 1.0, 0.837, 0.0051236, 1e-7)] == ["0", "1", "0.837", "0.00512", "0"]
    assert [interval(None, 2), interval((-1, 0.5), 2)] == ["", "−1.00 to 0.50"]
    assert [number(None, 2), number(float("nan"), 2), signed(None, 2), percent(None), factor(None)] == [NONE] * 5
    assert [ceiling(value) for value in (0.031, 0.05, 0.6, 24)] == pytest.approx([0.05, 0.05, 1, 25])
    assert [position(0, -1, 1), position(1, -1, 1)] == [50, 100]
    assert [plural(1, "clip"), plural(2, "clip"), plural(0, "box", "boxes")] == ["1 clip", "2 clips", "0 boxes"]


def test_where_predictions_rank_skill_is_first_and_the_total_stays_what_it_is(tmp_path: Path) -> None:
    usual = screen(tmp_path / "usual", make_case())
    other = screen(tmp_path / "other", make_case(rank_by="prediction"))
    assert usual.rows[0].column.key == other.total.column.key == "explanation"
    keys = [row.column.key for row in usual.rows if row.column.key != "skill"]
    assert [row.column.key for row in other.rows] == ["skill", *keys]
    assert (other.total.value, other.band, other.parts) == (usual.total.value, usual.band, usual.parts)
    assert "does not rank" in other.total.column.meaning
    assert (usual.headline.column.key, other.headline.column.key) == ("explanation", "skill")
    assert "The leaderboard ranks by skill over the constant, the number at the top." in other.verdict


def test_no_word_praises_predictions_that_know_no_more_than_the_mean(tmp_path: Path) -> None:
    case = make_case()
    assert screen(tmp_path / "honest", case).band
    constant = np.array([target["constant"] for target in case.settings["targets"]])
    case.prediction = np.tile(constant, (len(case.truth), 1)) + 1e-3 * (case.truth - constant)
    case.settings["skill_reference"] = dict.fromkeys(NAMES, 0.5)  # reached by everybody
    alike = screen(tmp_path / "alike", case)
    assert alike.parts.skill_factor == 1
    assert alike.total.estimate.value > 25
    assert "These predictions cannot be distinguished from always answering the training mean." in alike.verdict
    assert alike.band == ""


@pytest.mark.parametrize(("rank_by", "ranking"), [("explanation", "explanation"), ("prediction", "skill")])
def test_in_a_closed_phase_what_ranks_has_an_interval(tmp_path: Path, rank_by: str, ranking: str) -> None:
    scores = screen(tmp_path, make_case(rank_by=rank_by, report={"clips": False, "truth": False, "gallery": 0}))
    spread = [row.column.key for row in scores.rows if row.interval]
    assert {"explanation", "skill"} & set(spread) == {ranking}
    assert scores.level  # so that the table has a column of intervals


def test_results_say_why_the_measured_axes_are_empty(tmp_path: Path) -> None:
    case = replace(make_case(), run={"results": True}, probes=None)
    scores = screen(tmp_path / "results", case)
    assert scores.verdict[0].startswith("Results were submitted instead of code. ")
    needs_model = [key for key, axis in REGISTRY.items() if axis.needs_model]
    measured = [row.column.title for row in scores.rows if row.column.key in needs_model]
    assert len(measured) == 3
    assert all(title in scores.verdict[0] for title in measured)
    assert not any(title in change.evidence for title in measured for change in scores.advice)
    assert "instead of code" not in " ".join(screen(tmp_path / "code", make_case()).verdict)


BUSY = {"code": "machine_busy", "stage": "run", "severity": "warning", "fault": "organiser"}
KILLED = {"code": "crashed", "stage": "predict", "severity": "error", "fault": "participant"}


@pytest.mark.parametrize("settings", [OPEN, HIDDEN])
@pytest.mark.parametrize(
    ("problems", "busy", "kills", "marked"),
    [([BUSY], True, 0, 1), ([KILLED], False, 3, 0), ([{**BUSY, "code": "gpu_missing"}], False, 0, 0), ([], True, 0, 0)],
)
def test_a_score_that_a_busy_machine_lowered_is_marked(
    score: Score, settings: dict[str, Any], problems: list[dict[str, str]], *, busy: bool, kills: int, marked: int
) -> None:
    case = make_case(clips=3, report=settings)
    case.run = {
        "problems": problems,
        "processor": {"model_s": 9.0, "waited_s": 1.0, "busy": busy, "memory_kills": kills},
    }
    done = score(case)
    page = Page(done.page).text
    assert done.scores["not_comparable"] == marked
    for words in ("not comparable", "This score is not comparable with others", "Not comparable not_comparable1"):
        assert (words in page) == marked
    assert (f"{kills} killed for lack of memory" in page) == bool(kills)
