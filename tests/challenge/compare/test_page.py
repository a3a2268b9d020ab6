"""The page of `bundle compare --html`: what it shows, what it keeps to itself, and that nothing in it comes alive."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.field import Entry, difference, widest
from bundle_tools.challenge.compare.page import MOST_CLIPS
from bundle_tools.cli.main import main
from tests.challenge.compare.field import CLIPS, noisy, write_field
from tests.scoring.canary import LABELS, canary_case, secrets
from tests.scoring.factory import full_explanation
from tests.scoring.pages import HIDDEN, OPEN, Page

HOSTILE = "<img src=x onerror=alert(1)></bdi><script>alert(2)</script>\u202edlrow \"'{{ 7 * 7 }}"


def page_of(root: Path, *runs: str, options: tuple[str, ...] = ()) -> str:
    target = root / "comparison.html"
    paths = [str(root / run) for run in runs]
    arguments = ["compare", *paths, "--bundle", str(root), "--resamples", "100", "--html", str(target), *options]
    assert main(arguments) == 0
    return target.read_text("utf-8")


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = {"good": noisy(0), "twin": noisy(0), "worse": noisy(0.1)}
    return write_field(tmp_path_factory.mktemp("field"), runs)


@pytest.fixture(scope="module")
def page(field: Path) -> str:
    return page_of(field, "worse", "good", "twin")


def words(page: str) -> str:
    text = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(text).split())


def test_it_says_who_is_ahead_and_who_cannot_be_told_apart(page: str) -> None:
    said = words(page)
    assert "3 submissions compared: 2 bands" in said
    assert "good has the highest total, but by chance it could be ahead of twin." in said
    assert "good and twin gave the same predictions and texts for every clip." in said
    ranking = page.split('id="ranking"')[1].partition("</section>")[0]
    bands = re.findall(r'<tr><td class="value">(\d+)</td>.*?<bdi>(\w+)</bdi>', ranking)
    assert bands == [("1", "good"), ("1", "twin"), ("2", "worse")]


def test_marks_say_who_is_above_whom(page: str) -> None:
    gaps, side = (words(page.split(f'id="{name}"')[1].partition("</section>")[0]) for name in ("gaps", "side"))
    rows = re.findall(r"(▲ above|▼ below) (\w+)", gaps)
    assert rows == [("▲ above", "worse"), ("▲ above", "worse"), ("▼ below", "good"), ("▼ below", "twin")]
    assert re.findall(r"(▲ above|▼ below) (\w+)", side)[0] == ("▼ below", "good")  # of the totals


def test_where_labels_are_closed_predictions_alone_choose_the_clips(tmp_path: Path) -> None:
    closed = {"clips": True, "truth": False, "gallery": 4}
    runs = {"one": noisy(0, report=closed), "two": noisy(0.3, report=closed)}
    page = page_of(write_field(tmp_path, runs), *runs)
    table = page.split('id="predictions"')[1].split("</table>")[0]
    values = [float(value) for value in re.findall(r'data-value="([\d.]+)"', table)]
    ranges = [abs(one - two) for one, two in zip(values[::2], values[1::2], strict=True)]
    assert len(ranges) == MOST_CLIPS
    assert ranges == pytest.approx(sorted(ranges, reverse=True), abs=2e-3)


def test_its_numbers_are_those_of_the_table(field: Path, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    paths = [str(field / run) for run in ("worse", "good", "twin")]
    assert main(["compare", *paths, "--bundle", str(field), "--resamples", "100", "--json"]) == 0
    said = words(page)
    for run in json.loads(capsys.readouterr().out)["runs"]:
        low, high = run["interval"]
        assert f"{run['total']:.2f} {low:.2f} to {high:.2f}" in said
        for value in run["axes"].values():
            assert f"{value:.3f}" in said


def test_what_is_in_no_score_stands_below_the_scores(
    field: Path, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", str(field / "good"), "--bundle", str(field), "--json", "--resamples", "5"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    said = words(page).replace("\N{NO-BREAK SPACE}", " ")
    right = run["reasons"]["right_grounded"]
    assert f"In no score Right, grounded {right} ({100 * right / CLIPS:.0f} %)" in said
    assert f"Reaction size {run['reaction_size']:.2f}" in said


def test_totals_that_do_not_rank_are_called_a_diagnostic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = {"good": noisy(0, rank_by="prediction"), "worse": noisy(0.1, rank_by="prediction")}
    root = write_field(tmp_path, cases)
    assert "Totals are diagnostic here" in words(page_of(root, "good", "worse"))
    capsys.readouterr()
    assert main(["compare", str(root / "good"), str(root / "worse"), "--bundle", str(root)]) == 0
    assert "Totals are diagnostic here" in capsys.readouterr().out


def test_one_run_alone_has_a_page_without_comparisons(field: Path) -> None:
    alone = page_of(field, "good")
    assert "There is no other run to compare it with." in alone
    assert 'id="gaps"' not in alone
    assert "data-sortable" not in alone.partition("</style>")[2].partition("<script")[0]


def test_the_page_is_the_same_whatever_the_order_of_the_runs(field: Path, page: str) -> None:
    assert page_of(field, "twin", "worse", "good") == page


def test_it_loads_nothing_and_every_heading_has_its_section(page: str) -> None:
    tags = Page(page).elements
    policies = [attributes["content"] for tag, attributes in tags if attributes.get("http-equiv")]
    assert [policy.startswith("default-src 'none'; img-src data:") for policy in policies if policy] == [True]
    assert not [tag for tag, attributes in tags if {"src", "href", "style"} & attributes.keys()]
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {attributes["aria-labelledby"] for _, attributes in tags if "aria-labelledby" in attributes} <= set(ids)


def test_a_page_needs_a_folder_that_is_there_and_full_needs_a_page(
    field: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(field / "nowhere" / "page.html")
    for options, said in ((["--full"], "--html"), (["--html", nowhere], "expected a file in an existing folder")):
        assert main(["compare", str(field / "good"), "--bundle", str(field), *options]) == 1
        assert said in capsys.readouterr().err


def canaries(root: Path, report: dict[str, Any]) -> Path:
    """Two runs over six clips whose labels are rare numbers."""
    other = canary_case(report)
    other.prediction = other.prediction[::-1].copy()
    return write_field(root, {"one": canary_case(report), "two": other})


def given_away(page: str, **what: bool) -> list[str]:
    return secrets(**what).found_in([re.sub(r"<style>.*?</style>", "", page, flags=re.S)])


def test_a_closed_phase_stays_closed(tmp_path: Path) -> None:
    root = canaries(tmp_path, HIDDEN)
    page = page_of(root, "one", "two")
    assert given_away(page) == []
    ends = re.findall(r"([\d.]+) to −?([\d.]+)", words(page))
    assert len(ends) > 20
    assert max(len(end.partition(".")[2]) for pair in ends for end in pair) == 2
    assert "Single clips of this phase are closed." in page
    assert "grounded" not in page
    assert re.search(r"Reaction size (–|\d\.\d) ", words(page))
    assert "Private." not in page


def test_without_truth_no_label_gets_out_though_clips_do(tmp_path: Path) -> None:
    page = page_of(canaries(tmp_path, {"clips": True, "truth": False, "gallery": 4}), "one", "two")
    assert given_away(page, clips=False) == []
    errors = {f"{abs(label - guess):.3f}" for label in LABELS for guess in (0.5, 0.45)}
    assert [error for error in errors if error in page] == []
    assert "grounded" not in page
    assert "canary-finch-7d1" in page


@pytest.mark.parametrize("report", [HIDDEN, OPEN])
def test_full_shows_everything_and_says_where_that_is_private(tmp_path: Path, report: dict[str, Any]) -> None:
    page = page_of(canaries(tmp_path, report), "one", "two", options=("--full",))
    assert ("Private." in page) == (report is HIDDEN)
    assert "Right, not grounded" in page
    assert any(name.startswith("label") for name in given_away(page))
    assert "canary-finch-7d1" in page


def test_nothing_that_a_participant_writes_comes_alive(tmp_path: Path) -> None:
    """Texts, facts of the run and the names of folders, all of them hostile."""

    def says(clip_id: str) -> dict[str, Any]:
        return {**full_explanation(clip_id), "text": f"{HOSTILE} The smile raised the interview score of this clip."}

    case = noisy(0.05)
    case.explain = says
    case.run = {"machine": HOSTILE, "packages": {HOSTILE: HOSTILE}, "python": HOSTILE}
    name = "<svg onload=alert(3)>\u202e{{ 7 * 7 }}"
    page = page_of(write_field(tmp_path, {name: case, "plain": noisy(0)}), name, "plain")
    tags = Page(page).elements
    assert not [tag for tag, attributes in tags if tag == "img" or any(key.startswith("on") for key in attributes)]
    assert sum(tag == "script" for tag, _ in tags) == 1
    assert "⟦U+202E⟧" in page
    assert "\u202e" not in page
    assert "{{ 7 * 7 }}" in words(page)
    assert words(page).count("<script>alert(2)</script>") >= 3


@given(arrays(np.float64, (4, 9), elements=st.integers(0, 5).map(float)), st.integers(0, 9), st.permutations(range(4)))
def test_the_widest_clips_come_first_whatever_the_order_of_the_runs(
    values: np.ndarray, most: int, order: list[int]
) -> None:
    found = widest(values, most)
    spread = np.ptp(values, axis=0)
    assert [spread[clip] for clip in found] == sorted(spread[spread > 0], reverse=True)[:most]
    assert widest(values[order], most) == found


def test_a_run_without_a_value_counts_in_no_range() -> None:
    missing = float("nan")
    values = np.array([[0.1, missing, 0.3, missing], [0.2, 0.9, 0.8, missing], [0.2, 0.2, 0.8, missing]])
    assert widest(values, 9) == [1, 2, 0]


def entry(value: float, draws: np.ndarray) -> Entry:
    """A run of which nothing is known but one column."""
    nothing: Any = None
    return Entry("", nothing, nothing, 0.0, {"total": value}, {"total": draws})


draws_of_two = arrays(np.float64, (2, 40), elements=st.integers(0, 9).map(float))


@given(draws_of_two)
def test_a_difference_turned_round_has_the_other_sign(draws: np.ndarray) -> None:
    one, other = entry(draws[0].mean(), draws[0]), entry(draws[1].mean(), draws[1])
    there, back = difference(one, other, "total"), difference(other, one, "total")
    assert (there.value, there.higher, there.direction) == (-back.value, back.lower, -back.direction)
    assert there.interval is not None
    assert back.interval is not None
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))


@given(draws_of_two)
def test_an_interval_without_zero_is_a_direction(draws: np.ndarray) -> None:
    """Ends are 5 % and 95 % quantiles, interpolated, so that an end at zero or near it may go either way."""
    found = difference(entry(0, draws[0]), entry(0, draws[1]), "total")
    assert found.interval is not None
    if found.direction > 0:
        assert found.interval[0] >= 0
    if found.interval[0] >= 1:
        assert found.direction == 1


def test_ninety_five_of_a_hundred_make_a_direction() -> None:
    for won, direction in ((94, 0), (95, 1), (100, 1)):
        draws = np.array([1.0] * won + [-1.0] * (100 - won))
        assert difference(entry(1, draws), entry(0, np.zeros(100)), "total").direction == direction
    assert ABOVE == 0.95


def test_without_resamples_there_is_no_interval() -> None:
    assert difference(entry(2, np.ones(1)), entry(1, np.zeros(1)), "total", drawn=False).interval is None
