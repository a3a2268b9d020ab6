"""Cue by cue: verdicts of real runs, measures that react to another cue, and what each phase shows of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kit import main as kit
from score.axes.table import clip_axes
from score.cues import VERDICTS, CueNumbers, cue_cells, cue_table, unclaimed
from score.pipeline import main as score
from score.read.answers import Claim, Explanation, ProbeCall, original_of
from score.read.outcomes import Outcomes
from tests.meaning.recorded import Recorded, read
from tests.scoring.factory import make_case, make_input
from tests.scoring.pages import CLIPS_ONLY, HIDDEN, page_of, scored_of

Table = dict[str, CueNumbers]


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The honest example's run over the Practice clips."""
    return read("practice", tmp_path_factory.mktemp("practice"))


def table_of(recorded: Recorded, outcomes: Outcomes) -> Table:
    constant = np.array([target.constant for target in recorded.settings.targets])
    axes = clip_axes(outcomes, recorded.settings, outcomes.truth, outcomes.prediction, constant)
    vocabulary = recorded.settings.explanation_score.vocabulary
    table = cue_table(outcomes, axes, vocabulary)
    assert {numbers.cue for numbers in table} == set(vocabulary)
    return {numbers.cue: numbers for numbers in table}


def with_claims(outcomes: Outcomes, change: Callable[[Claim], Claim | None]) -> Outcomes:
    def changed(explanation: Explanation) -> Explanation:
        claims = tuple(claim for each in explanation.claims if (claim := change(each)))
        return replace(explanation, claims=claims, text="")

    return replace(outcomes, explanations=tuple(map(changed, outcomes.explanations)))


def turned(claim: Claim) -> Claim:
    return replace(claim, contribution=-claim.contribution)


def test_an_honest_run_is_as_claimed_and_names_what_it_left_out(practice: Recorded) -> None:
    table = table_of(practice, practice.outcomes)
    counts = {cue: numbers.tested for cue, numbers in table.items()}
    assert {cue: table[cue].verdict for cue in ("smile", "gaze", "posture", "words")} == dict.fromkeys(
        ("smile", "gaze", "posture", "words"), "right"
    )
    assert {cue for cue, numbers in table.items() if numbers.verdict == "unclaimed"} == {"background", "clothing"}
    assert unclaimed(table.values()).startswith("background (")
    assert (counts["face"], table["face"].verdict, table["face"].effect) == (0, "untested", None)
    sizes = [(numbers.effect or 0) * numbers.tested for numbers in cue_table_order(practice)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(0.7 < (table[cue].with_causes or 0) <= 1 for cue in ("smile", "gaze", "posture", "words"))
    assert table["clothing"].with_causes is None


def cue_table_order(recorded: Recorded) -> list[CueNumbers]:
    return list(table_of(recorded, recorded.outcomes).values())


def test_other_claims_get_other_verdicts_and_the_effects_stay(practice: Recorded) -> None:
    honest = table_of(practice, practice.outcomes)
    false = table_of(practice, with_claims(practice.outcomes, turned))
    none = table_of(practice, with_claims(practice.outcomes, lambda claim: None))
    small = table_of(practice, with_claims(practice.outcomes, lambda c: replace(c, contribution=c.contribution / 7)))
    for cue, numbers in honest.items():
        assert false[cue].effect == none[cue].effect == numbers.effect
        assert false[cue].clips["wrong_sign"] == numbers.clips["right"]
        assert none[cue].clips["unclaimed"] == sum(numbers.clips[key] for key in ("unclaimed", "right", "wrong_sign"))
        assert none[cue].with_causes is None
        assert small[cue].clips == numbers.clips
        assert small[cue].moved_like == false[cue].moved_like == numbers.moved_like
        assert sum(numbers.clips.values()) == numbers.tested
        assert (false[cue].with_causes or 0.0) == pytest.approx(-(numbers.with_causes or 0.0))


def moved_by(outcomes: Outcomes, cue: str, pattern: np.ndarray) -> Outcomes:
    """Return outcomes in which every copy without a cue moves all targets in one pattern, more or less."""
    rng = np.random.default_rng(1)

    def answered(calls: tuple[ProbeCall, ...]) -> tuple[ProbeCall, ...]:
        answer = tuple(np.array(original_of(calls)) - rng.uniform(-0.1, 0.1) * pattern)
        is_copy = [call.kind == "cue" and call.cue == cue for call in calls]
        return tuple(
            replace(call, prediction=answer) if own else call for call, own in zip(calls, is_copy, strict=True)
        )

    probes = tuple(map(answered, outcomes.probes))
    return replace(outcomes, probes=probes)


def test_a_measure_that_reacts_to_another_cue_is_named(practice: Recorded) -> None:
    claims = {(claim.cue, claim.target): claim.contribution for claim in practice.outcomes.explanations[0].claims}
    patterns = {cue: np.array([claims[cue, name] for name in practice.settings.names]) for cue in ("smile", "words")}
    unit = {cue: pattern / np.linalg.norm(pattern) for cue, pattern in patterns.items()}
    for cue, pattern in unit.items():
        assert table_of(practice, moved_by(practice.outcomes, "clothing", pattern))["clothing"].moved_like == (cue,)
        assert table_of(practice, moved_by(practice.outcomes, "smile", unit["smile"]))["smile"].moved_like == ()
    # The sum of two patterns is like both, if they are alike; their difference is like neither.
    sign = np.sign(unit["smile"] @ unit["words"])
    for other, cues in ((unit["words"] * sign, {"smile", "words"}), (unit["words"] * -sign, set())):
        mixed = table_of(practice, moved_by(practice.outcomes, "clothing", unit["smile"] + other))["clothing"]
        assert {"smile", "words"} & set(mixed.moved_like) == cues
    # A pattern of two clips may be chance.
    assert table_of(practice, moved_by(practice.outcomes, "framing", unit["words"]))["framing"].moved_like == ()


def test_what_moves_less_than_noise_has_no_pattern(practice: Recorded) -> None:
    still = table_of(practice, moved_by(practice.outcomes, "background", np.full(6, 1e-9)))["background"]
    assert (still.verdict, still.moved_like) == ("unused", ())


@pytest.mark.parametrize(
    ("clips", "verdict"),
    [
        ({"unclaimed": 2, "right": 2, "unused": 9}, "unclaimed"),
        ({"unclaimed": 1, "wrong_sign": 2, "no_effect": 2}, "wrong_sign"),
        ({"right": 1}, "right"),
        ({"unused": 3}, "unused"),
        ({"unused": 0}, "untested"),
    ],
)
def test_the_most_frequent_verdict_counts(clips: dict[str, int], verdict: str) -> None:
    everything = {key: clips.get(key, 0) for key in VERDICTS if key != "untested"}
    numbers = CueNumbers("smile", everything, 0.1, 0.1, ("gaze", "speech_rate"), None)
    assert numbers.verdict == verdict
    assert cue_cells(numbers)[0] == "smile"
    assert cue_cells(numbers)[6] == "gaze or speech rate"


def test_each_phase_shows_what_it_may(tmp_path: Path) -> None:
    shown = page_of(tmp_path / "open", make_case(clips=12))
    assert "Cue by cue" in shown.text
    closed = scored_of(tmp_path / "hidden", make_case(clips=12, report=HIDDEN))
    assert closed.evaluation.cues == ()
    assert "Cue by cue" not in page_of(tmp_path / "page", make_case(clips=12, report=HIDDEN)).text
    clips_only = scored_of(tmp_path / "clips", make_case(clips=12, report=CLIPS_ONLY)).evaluation.cues
    opened = scored_of(tmp_path / "whole", make_case(clips=12)).evaluation.cues
    assert [replace(numbers, with_causes=None) for numbers in opened] == list(clips_only)
    assert any(numbers.with_causes is not None for numbers in opened)


def test_the_kit_prints_the_table_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = make_case(clips=12)
    make_input(tmp_path / "input", case)
    assert score([str(tmp_path / "input"), str(tmp_path / "output")]) == 0
    capsys.readouterr()
    assert kit(["diagnose", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    report = (tmp_path / "output/detailed_results.html").read_text("utf-8")
    for numbers in scored_of(tmp_path / "again", case).evaluation.cues:
        cells = cue_cells(numbers)
        assert any(line.split() == " ".join(cells).split() for line in lines)
        assert f'<th scope="row">{cells[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in cells[1:]) in report
    assert kit(["diagnose", str(tmp_path / "nothing")]) == 1
    assert "expected a folder written by `kit.py run`" in capsys.readouterr().out
