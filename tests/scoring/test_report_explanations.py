"""The section on explanations: true to what was measured, best and worst first, and nothing where clips are closed."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.axes.effects import Unit
from score.evaluate import ClipNumbers, UnitNumbers
from score.read.answers import Claim, Explanation, ProbeCall
from score.report.clip import call_rows, claim_rows, clip_state, place, reasons, timeline, untested
from score.report.drawings import data_uri
from score.report.explanations import explanations, smaller
from score.report.write import report_page
from score.settings import Target
from tests import there
from tests.scoring.factory import Case, full_explanation, honest_probes, jpeg, make_case
from tests.scoring.pages import CLIPS_ONLY, HIDDEN, Page, page_of, scored_of

WIDE = Target("age", "Age", 0.0, 100.0, 40.0)
"""Its range is 100 times the unit scale."""


def at(
    kind: str, cells: tuple[int, ...], seconds: tuple[int, ...], weight: float, effect: float | None, *parts: str
) -> UnitNumbers:
    return UnitNumbers(Unit(kind, parts, cells, seconds, np.nan if effect is None else effect), weight)


NUMBERS = ClipNumbers(
    target=0,
    axes={"faithfulness_space": 0.9, "faithfulness_time": -0.4, "cue_claims": 0.3, "text": 1.0},
    label_free_mean=0.6,
    units={
        "space": (
            at("block-4", (10, 11), (), 10.5, 0.08),
            at("things", (4,), (), 4.0, 0.05, "thing-1", "thing-2"),
            at("block-1", (0, 1), (), 0.5, 0.001),
        ),
        "time": (
            at("words", (), (1,), 2.0, 0.01, "words"),
            at("span-3", (), (2,), 1.0, 0.02),
            at("quiet", (), (0,), 0.0, 0.04),
        ),
    },
    edited={"smile": 0.06, "gaze": 0.02, "motion": 0.0004, "words": -0.03, "voice": 0.0002},
    claimed={"smile": 0.05, "gaze": -0.1, "motion": 0.02, "posture": 0.01},
    stated=frozenset(),
    epsilon=0.001,
    joint_epsilon=0.001,
)  # fmt: skip
ORDERED = replace(NUMBERS, units={**NUMBERS.units, "time": NUMBERS.units["time"][::-1]})
"""The timeline's order is that of the effects, too."""
MAPS = Explanation(
    text="The smile raised the age, and so did much else.",
    text_ok=True,
    image=None,
    space=np.arange(12.0).reshape(3, 4),
    time=np.array([0.0, 2.0, 1.0]),
    bin_s=1.0,
    claims=(Claim("smile", "age", 0.05), Claim("smile", "other", 0.2)),
)


def call(
    kind: str, cue: str = "", unit: str = "", cells: tuple[int, ...] = (), seconds: tuple[int, ...] = ()
) -> ProbeCall:
    return ProbeCall(kind, "blur", unit, (), cells, seconds, cue, (1.0,), None, again=False)


CALLS = (
    call("original"),
    call("cue", cue="smile"),
    call("unit", unit="block-4", cells=(10, 11)),
    call("unit", unit="block-1", cells=(0, 1)),
    call("unit", unit="words", seconds=(1,)),
    call("unit", unit="quiet", seconds=(0,)),
    call("unit", unit="hand", cells=(3,), seconds=(2,)),
)


def cards_of(section: dict[str, Any]) -> list[dict[str, Any]]:
    return [card for _, cards in section["groups"] for card in cards]


def with_axes(numbers: ClipNumbers, **values: float) -> ClipNumbers:
    return replace(numbers, axes={**numbers.axes, **values})


def test_claims_beside_what_was_measured() -> None:
    rows = claim_rows(NUMBERS, MAPS.claims, WIDE)
    assert [tuple(row[key] for key in ("cue", "claimed", "measured", "state", "agrees")) for row in rows] == [
        ("gaze", "−10.000", "+2.000", "bad", "opposite sign"),
        ("smile", "+5.000", "+6.000", "good", "agrees"),
        ("motion", "+2.000", "no effect", "bad", "no effect"),
        ("voice", "–", "no effect", "good", "rightly not claimed"),
        ("words", "–", "−3.000", "bad", "not claimed"),
    ]
    assert list(untested(NUMBERS, MAPS.claims, WIDE)) == [
        "Claimed but not tested on this clip: posture +1.000.",
        "One more claim about another target.",
    ]


def test_claims_of_a_text_alone_have_no_size() -> None:
    stated = replace(NUMBERS, claimed={"smile": 1.0, "posture": -1.0})
    assert claim_rows(stated, (), WIDE)[0]["claimed"] == "raised"
    assert list(untested(stated, (), WIDE)) == ["Claimed but not tested on this clip: posture lowered."]


def test_a_cue_without_an_answer_counts_as_worst() -> None:
    failed = replace(NUMBERS, edited={"smile": None}, units={"space": (at("mouth", (1,), (), 1.0, None),)})
    (row,) = claim_rows(failed, (), WIDE)
    assert (row["measured"], row["state"]) == ("no valid answer", "bad")
    found = reasons(failed, MAPS, (row,), WIDE)
    assert [state for state, _, _ in found] == ["bad", "none", "bad", "good"]
    assert all("No valid answer" in found[number][2] for number in (0, 2))


def test_the_verdict_gives_its_reasons_in_the_targets_own_range() -> None:
    # Effects of units are joint over the targets, so they have no range of a target.
    most = "Altering the second marked most moved the predictions by 0.010"
    assert reasons(NUMBERS, MAPS, claim_rows(NUMBERS, MAPS.claims, WIDE), WIDE) == (
        ("good", "Place", "Altering the place marked most moved the predictions by 0.080."),
        ("bad", "Time", f"{most}; altering another second moved it by up to 0.040."),
        ("part", "Cues", "1 of 3 claims tested are right."),
        ("good", "Text", "Valid, and agrees with the prediction and the submitted cues."),
    )


def test_a_map_in_part_right_says_why() -> None:
    unordered = replace(NUMBERS, units={"time": tuple(NUMBERS.units["time"][number] for number in (2, 0, 1))})
    for numbers, why in (
        (ORDERED, "one order for all clips fits about as well"),
        (unordered, "the order of the others is wrong"),
    ):
        weak = with_axes(numbers, faithfulness_space=0.3, faithfulness_time=0.3)
        words = f"Altering the second marked most moved the predictions by 0.040; {why}."
        assert reasons(weak, MAPS, (), WIDE)[1] == ("part", "Time", words)


@pytest.mark.parametrize(
    ("mean", "state"), [(1.0, "good"), (0.5, "good"), (0.499, "part"), (0.2, "part"), (0.199, "bad"), (-1.0, "bad")]
)
def test_words_for_values(mean: float, state: str) -> None:
    axes = dict.fromkeys(("faithfulness_space", "faithfulness_time", "cue_claims"), mean)
    assert clip_state(replace(with_axes(ORDERED, **axes), label_free_mean=mean)) == state


@pytest.mark.parametrize("weak", NUMBERS.axes)
def test_an_explanation_holds_up_only_where_all_that_was_tested_does(weak: str) -> None:
    strong = replace(with_axes(ORDERED, **dict.fromkeys(NUMBERS.axes, 0.9)), label_free_mean=0.9)
    assert clip_state(strong) == "good"
    assert clip_state(replace(strong, units=NUMBERS.units)) == "part"  # another second does more
    assert clip_state(with_axes(strong, **{weak: 0.49})) == "part"
    if weak.startswith("faithfulness"):
        kinds = {kind: units for kind, units in ORDERED.units.items() if not weak.endswith(kind)}
        assert clip_state(replace(with_axes(strong, **{weak: 0.0}), units=kinds)) == "good"


def test_what_was_not_given_or_not_asked_is_said() -> None:
    nothing = replace(with_axes(NUMBERS, text=0.0), units={}, edited={}, claimed={})
    assert clip_state(nothing) == "none"
    beginnings = ("No saliency map given", "No temporal attribution given", "No testable claim about Age", "Not valid")
    for (_, _, words), begins in zip(reasons(nothing, Explanation(), (), WIDE), beginnings, strict=True):
        assert words.startswith(begins)
    assert "Contradicts" in reasons(nothing, MAPS, (), WIDE)[3][2]


def test_the_drawings_show_what_was_hidden() -> None:
    assert place(MAPS, NUMBERS) == {
        "rows": 3,
        "columns": 4,
        "top": "M2 2h2v1h-2z",
        "bottom": "M0 0h2v1h-2z",
        "label": "Marked most: 2 of 12 cells, mostly lower right; marked least: 2 of 12 cells, mostly upper left.",
        "effects": (
            ("top", "marked most, lower right", "0.080", 100.0),
            ("", "things", "0.050", 62.5),
            ("bottom", "marked least, upper left", "0.001", 1.2),
        ),
    }
    line = there(timeline(MAPS, NUMBERS))
    assert line == {
        "columns": 3,
        "top": "M1 0h1v1h-1z",
        "bottom": "M0 0h1v1h-1z",
        "bars": "M1 100v-100h1v100zM2 100v-50h1v50z",
        "ticks": line["ticks"],
        "label": "The largest weight is at 1 to 2 s; marked most: 1 to 2 s; marked least: 0 to 1 s.",
        "effects": (  # of the largest change of the clip
            ("top", "marked most, words, 1 to 2 s", "0.010", 12.5),
            ("", "span 3, 2 to 3 s", "0.020", 25.0),
            ("bottom", "marked least, quiet, 0 to 1 s", "0.040", 50.0),
        ),
    }
    assert place(Explanation(), NUMBERS) is None
    assert timeline(Explanation(), NUMBERS) is None


def test_the_numbers_behind_the_drawings() -> None:
    asked = (*CALLS, replace(CALLS[2], again=True))
    failed = replace(CALLS[2], prediction=None)
    rows = [(what, where, change) for what, _, where, change in call_rows(MAPS, (*asked, failed), NUMBERS, WIDE)]
    assert rows == [
        ("Cue smile, made neutral", "–", "−6.000"),
        ("block-4", "2 cells", "0.080"),
        ("block-1", "2 cells", "0.001"),
        ("words", "1 to 2 s", "0.010"),
        ("quiet", "0 to 1 s", "0.040"),
        ("hand", "1 cell, 2 to 3 s", "–"),
        ("block-4", "2 cells", "no valid answer"),
    ]


def test_rank_curves_keep_their_order_on_paper(tmp_path: Path) -> None:
    page = report_page(scored_of(tmp_path, make_case(clips=12)))
    drawn = [re.findall(r"([\d.]+),([\d.]+) ", line) for line in re.findall(r'<polyline points="(.*?)"', page)]
    highest = map(float, re.findall(r'y="16.0">([\d.]+)', page))
    rows = iter(row for row in Page(page).tables["by_rank"] if row[0] != "Marked")
    assert [len(points) for points in drawn] == [4, 5]
    for points in drawn:
        changes = [float(change.partition(" ± ")[0]) for _, (_, _, change) in zip(points, rows, strict=False)]
        heights = [(126 - float(y)) / 114 for _, y in points]
        assert [float(x) for x, _ in points] == pytest.approx(np.linspace(60, 290, len(points)), abs=0.05)
        assert heights == pytest.approx(np.array(changes) / next(highest), abs=0.001)
    for low, high in re.findall(r'<line class="error".*?y1="([\d.]+)" y2="([\d.]+)"', page):
        assert float(low) >= float(high)


def inverted(clip_id: str) -> dict[str, Any]:
    """An explanation that says the opposite of every cue."""
    said = full_explanation(clip_id)
    turned = {"raised": "lowered", "lowered": "raised"}
    cues = [cue | {"contribution": -cue["contribution"]} for cue in said["evidence"]["cues"]]
    text = " ".join(turned.get(word, word) for word in said["text"].split())
    return said | {"text": text, "evidence": said["evidence"] | {"cues": cues}}


def test_honest_explanations_hold_up_and_inverted_ones_do_not(tmp_path: Path) -> None:
    honest = page_of(tmp_path / "a", make_case(clips=12))
    assert min(float(row[3]) for row in honest.tables["clips"][1:]) > 0.5
    case = make_case(clips=12)
    case.explain = inverted
    against = page_of(tmp_path / "b", case)
    assert max(float(row[3].replace("−", "-")) for row in against.tables["clips"][1:]) < 0.5  # the maps are still true
    said = [agrees for _, claimed, _, agrees in against.tables["claims"] if claimed[0] in "+−"]
    assert {agrees.strip() for agrees in said} == {"✗ opposite sign"}


def test_best_and_worst_come_first_and_all_clips_are_listed(tmp_path: Path) -> None:
    report = {"clips": True, "truth": True, "gallery": 6}
    case = make_case(clips=12, report=report, statuses=["failed", *["ok"] * 11])
    silent = set(case.clip_ids[1:4])
    case.explain = lambda clip_id: {"text": "", "image": None} if clip_id in silent else full_explanation(clip_id)
    page = report_page(scored_of(tmp_path, case))
    parts = re.split('<h3 class="group">', page)
    assert [part.partition("<")[0] for part in parts[1:4]] == [
        "Best explanations",
        "Worst explanations",
        "Randomly chosen",
    ]
    best, worst, drawn = (set(re.findall(r'id="clip-(\w+)"', part)) for part in parts[1:4])
    assert worst <= silent
    assert not best & silent
    assert len(best | worst | drawn) == 6
    parsed = Page(page)
    assert f'class="bad"><th scope="row">{case.clip_ids[0]}<' in page
    first, *others = parsed.tables["clips"][1:]
    assert first[:5] == [case.clip_ids[0], "failed", "–", "–", "–"]  # what failed comes first
    assert sorted(row[0] for row in others) == sorted(case.clip_ids[1:])
    values = [float(row[3].replace("−", "-")) for row in others]
    assert values == sorted(values)
    lengths = re.findall(r'<rect class="(?:good|part|bad|none)" x="[\d.]+%" y="0" width="([\d.]+)%"', page)
    assert sum(map(float, lengths)) == pytest.approx(100, abs=0.05)


def test_without_a_second_pass_nothing_is_said_to_hold(tmp_path: Path) -> None:
    case = make_case(clips=4)
    case.probes = None
    page = page_of(tmp_path, case)
    assert {(verdict, value) for _, _, verdict, value, *_ in page.tables["clips"][1:]} == {("Not measured", "–")}
    assert "Change of the prediction by rank" not in page.text


@pytest.mark.parametrize("weights", [[0.0], [[0.0, -1.0]], [[1.0, 1.0]] * 9])
def test_maps_of_any_kind_give_a_page(tmp_path: Path, weights: Any) -> None:  # noqa: ANN401 - broken on purpose
    case = make_case(clips=2)
    evidence = {"space": {"rows": len(weights), "columns": 2, "weights": [weights]}, "time": weights, "cues": []}
    case.explain = lambda clip_id: full_explanation(clip_id) | {"evidence": evidence}
    case.probes = lambda made: [one for one in honest_probes(made) if one["kind"] != "unit"]
    assert "No saliency map given" in page_of(tmp_path, case).text


def test_a_fine_grid_is_outlined_exactly_and_a_scattered_one_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    case = make_case(clips=2)
    fine = {"rows": 90, "columns": 160, "weights": [[[2.0] * 160] * 45 + [[1.0] * 160] * 45]}
    case.explain = lambda clip_id: full_explanation(clip_id) | {"evidence": {"space": fine}}

    def probes(made: Case) -> list[dict[str, Any]]:
        calls = []
        for clip_id in made.clip_ids:
            original, *hidden = (
                one
                for one in honest_probes(made)
                if one["clip_id"] == clip_id and (one["kind"] == "original" or one["cells"])
            )
            scattered = sorted(rng.choice(np.arange(160 * 45, 160 * 90), 4000, replace=False).tolist())
            calls += [original, hidden[0] | {"cells": [*range(160 * 45)]}, hidden[1] | {"cells": scattered}]
        return calls

    case.probes = probes
    for card in cards_of(explanations(scored_of(tmp_path, case))):
        assert (card["place"]["top"], card["place"]["bottom"]) == ("M0 0h160v45h-160z", "")


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_a_closed_phase_holds_no_clip_and_an_open_one_without_truth_no_label(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    case = make_case(clips=6, report=report)
    scored = scored_of(tmp_path, case)
    section = explanations(scored)
    assert {len(row) for row in Page(report_page(scored)).tables.get("values", [])} <= {3}
    if not report["clips"]:
        assert not any(section[part] for part in ("tallies", "groups", "ranks", "rows"))
        assert "the report shows totals only" in report_page(scored)
    assert scored.evaluation.reasons is None
    assert {truth for card in cards_of(section) for _, _, truth in card["targets"]} <= {None}
    assert {row["truth"] for row in section["rows"]} <= {None}
    assert {card["frame"] for card in cards_of(section)} <= {""}


def test_where_truth_is_closed_the_section_does_not_hang_on_labels(tmp_path: Path) -> None:
    case = make_case(clips=9, report=CLIPS_ONLY)
    section = explanations(scored_of(tmp_path / "a", case))
    case.truth = 1 - case.truth
    # As text: a number that is not known is equal to none, not even to itself.
    assert repr(explanations(scored_of(tmp_path / "b", case))) == repr(section)


def test_pictures_are_left_out_where_there_is_no_more_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one = len(data_uri(jpeg()) or "")
    monkeypatch.setattr("score.report.explanations._BUDGET", 5 * one // 2)
    section = explanations(scored_of(tmp_path, make_case(clips=4, report={"clips": True, "truth": True, "gallery": 4})))
    shown = [(bool(card["picture"]), card["no_picture"]) for card in cards_of(section)]
    assert shown == [(True, "")] * 2 + [(False, "Left out to keep this page small.")] * 2


def test_a_smaller_section_ends(tmp_path: Path) -> None:
    section: dict[str, Any] | None = explanations(
        scored_of(tmp_path, make_case(clips=9, report={"clips": True, "truth": True, "gallery": 9}))
    )
    seen = []
    while section is not None:
        seen.append((len(cards_of(section)), len(section["rows"])))
        section = smaller(section)
    assert seen[0] == (9, 9)
    assert seen[-1] == (0, 0)
    assert all(before > after for before, after in pairwise(seen))


def test_the_page_works_without_scripts_and_speaks_to_those_who_cannot_see(tmp_path: Path) -> None:
    parsed = page_of(tmp_path, make_case(clips=6))
    forms = [attributes for tag, attributes in parsed.elements if tag == "form"]
    assert all("hidden" in attributes for attributes in forms)  # a script that runs shows them
    for label in ("Marked most:", "The largest weight is at"):
        assert any(label in (attributes.get("aria-label") or "") for tag, attributes in parsed.elements if tag == "svg")
    headings = [int(tag[1]) for tag, _ in parsed.elements if tag in {"h1", "h2", "h3", "h4"}]
    assert all(after - before <= 1 for before, after in pairwise(headings))
