"""Right for the right reason: the four counts by hand, what is grounded, and who may see it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.diagnostics import GROUNDED, RightReasons
from score.evaluate import evaluate
from score.pipeline import prepare
from tests import there
from tests.scoring.conftest import Score
from tests.scoring.factory import CAUSAL, NAMES, Case, full_explanation, make_case, make_input, world
from tests.scoring.pages import OPEN

CUES = (*CAUSAL, "posture", "framing", "background", "clothing", "speech_rate", "words", "face", "voice")
MAIN = NAMES.index("interview")


def claiming(said: Callable[[str], dict[str, float]]) -> Callable[[str], dict[str, Any]]:
    """Explain by these contributions to the main target and nothing else."""

    def explain(clip_id: str) -> dict[str, Any]:
        cues = [
            {"cue": cue, "target": "interview", "contribution": float(value)} for cue, value in said(clip_id).items()
        ]
        return full_explanation(clip_id) | {"text": "", "evidence": {"space": None, "time": None, "cues": cues}}

    return explain


def true(clip_id: str) -> dict[str, float]:
    return world(clip_id).contributions["interview"]


def found(folder: Path, case: Case) -> RightReasons | None:
    prepared = prepare(make_input(folder, case))
    return evaluate(prepared.outcomes, prepared.settings, 1.0).reasons


def grounded(folder: Path, said: Callable[[str], dict[str, float]], clips: int = 40) -> float:
    """Share of the clips whose claims are grounded."""
    case = make_case(clips=clips, bootstrap={"resamples": 0, "level": 0.95, "seed": 1})
    case.explain = claiming(said)
    counts = there(found(folder, case))
    return (counts.right_grounded + counts.wrong_grounded) / counts.clips


def off_by(*errors: float) -> Case:
    """Clips whose main target alone is off by so much; all other targets are quite wrong."""
    truth = np.full((len(errors), len(NAMES)), 0.25)
    prediction = truth + 0.5
    prediction[:, MAIN] = truth[:, MAIN] + np.array(errors)
    return make_case(truth, prediction)


def test_the_four_counts_by_hand(tmp_path: Path) -> None:
    case = off_by(0.0, 0.099, -0.099, 0.101, 0.3, 0.0, 0.2)
    true_ones = {case.clip_ids[number] for number in (0, 1, 2, 4)}
    case.explain = claiming(
        lambda clip_id: true(clip_id) if clip_id in true_ones else {cue: -v for cue, v in true(clip_id).items()}
    )
    # Right: 0, 1, 2 and 5; of these 5 is turned round. Wrong: 3, 4 and 6, and only 4 says what is true.
    assert found(tmp_path, case) == RightReasons(3, 1, 1, 2)


@pytest.mark.parametrize(("gate", "right"), [(0.05, 1), (0.1, 2), (0.25, 3)])
def test_the_gate_is_that_of_the_settings(tmp_path: Path, gate: float, right: int) -> None:
    case = off_by(0.0, 0.07, 0.2, 0.3)
    case.settings["explanation_score"] = {"gate": gate}
    assert found(tmp_path, case) == RightReasons(right, 0, 4 - right, 0)


def test_failed_clips_are_neither_and_unreadable_ones_are_left_out(tmp_path: Path) -> None:
    case = off_by(0.0, 0.0, 0.0, 0.0, 0.0)
    case.statuses = ["ok", "failed", "not_reached", "unreadable", "ok"]
    counts = found(tmp_path, case)
    assert counts == RightReasons(2, 0, 0, 2)
    assert counts.clips == 4


def test_a_text_alone_can_be_grounded(tmp_path: Path) -> None:
    case = off_by(*[0.0] * 8)
    case.explain = lambda clip_id: full_explanation(clip_id) | {"evidence": None}
    assert found(tmp_path, case) == RightReasons(8, 0, 0, 0)
    case.explain = lambda clip_id: {"text": "It was a nice day and all went well.", "image": None, "evidence": None}
    assert found(tmp_path / "again", case) == RightReasons(0, 8, 0, 0)


@pytest.mark.slow
def test_exact_claims_are_grounded_and_chance_is_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    assert grounded(tmp_path / "exact", true) == 1
    assert grounded(tmp_path / "inverted", lambda clip_id: {cue: -value for cue, value in true(clip_id).items()}) == 0
    drawn = grounded(tmp_path / "drawn", lambda _: dict(zip(CUES, rng.uniform(-1, 1, len(CUES)), strict=True)), 300)
    assert drawn < 0.2  # the order of the two largest contributions decides most of it
    assert grounded(tmp_path / "all", lambda _: dict.fromkeys(CUES, 0.1)) == 0


def test_the_size_of_all_claims_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    noise = {clip_id: rng.normal(0, 0.08, 4) for clip_id in make_case(clips=40).clip_ids}

    def said(clip_id: str, times: float = 1.0) -> dict[str, float]:
        return {cue: times * (v + n) for (cue, v), n in zip(true(clip_id).items(), noise[clip_id], strict=True)}

    shares = [grounded(tmp_path / f"{times}", partial(said, times=times)) for times in (0.01, 1.0, 2.0)]
    assert len(set(shares)) == 1
    assert 0.2 < shares[0] < 0.95
    assert GROUNDED == 0.5


def test_without_causes_there_is_no_table(tmp_path: Path, score: Score) -> None:
    case = make_case(clips=6)
    del case.settings["causes"]
    assert found(tmp_path, case) is None
    assert "Right for the right reason" not in score(case).page


def test_clips_whose_label_has_no_cause_are_left_out(tmp_path: Path) -> None:
    case = make_case(clips=6)
    factory = case.causes

    def causes(clip_ids: Any) -> Any:  # noqa: ANN401 - JSON
        content = factory(clip_ids)
        for clip_id in clip_ids[:6]:
            content["clips"][clip_id]["contributions"]["interview"] = {}
        return content

    case.causes = causes
    assert found(tmp_path / "none", case) is None
    case = off_by(*[0.0] * 6, 0.3, 0.3)
    case.causes = causes
    assert found(tmp_path / "two", case) == RightReasons(0, 0, 2, 0)


def test_the_report_shows_counts_and_shares_where_true_values_are_open(score: Score) -> None:
    case = off_by(0.0, 0.0, 0.2, 0.0)
    case.settings["report"] = OPEN
    page = score(case).page
    assert "Right for the right reason" in page
    assert "3\N{NO-BREAK SPACE}(75\N{NO-BREAK SPACE}%)" in page
    assert "1\N{NO-BREAK SPACE}(25\N{NO-BREAK SPACE}%)" in page
    assert "off by less than 10\N{NO-BREAK SPACE}% of its range" in page
