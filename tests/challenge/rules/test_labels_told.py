"""What a phase tells of hidden labels: the sums behind it, and which phases are warned of."""

from math import inf, log2
from pathlib import Path
from typing import Any

import pytest

from bundle_tools.challenge.enough import GAIN_ALLOWED, bits_of, gain, labels_needed, submissions_allowed
from bundle_tools.challenge.reading.program_settings import ScoringSettings
from bundle_tools.challenge.rules.phases import check_hidden_labels
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding
from tests import ROOT
from tests.tiny import draft_of, write_files

TOTAL = {"of_labels": True, "minimum": 0.0, "maximum": 100.0, "decimals": 2, "closed_spread": 0}
SKILL = {"of_labels": True, "minimum": -1.0, "maximum": 1.0, "decimals": 4, "closed_spread": 2}
FAILED = {"of_labels": False, "minimum": 0.0, "maximum": None, "decimals": 0, "closed_spread": 0}


# 0.6 * (1 - sqrt(1 - scores * (submissions - 1) / labels)), by hand.
@pytest.mark.parametrize(
    ("scores", "labels", "submissions", "expected"),
    [(7, 144, 6, 0.0780), (7, 720, 6, 0.0148), (3, 4, 2, 0.3), (7, 144, 1, 0.0), (7, 144, 100, 0.6), (1, 9, inf, 0.6)],
)
def test_the_gain_by_hand(scores: int, labels: int, submissions: float, expected: float) -> None:
    assert gain(scores, labels, submissions) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("scores", "submissions"), [(1, 2), (7, 2), (7, 6), (5, 100)])
def test_advice_is_where_the_gain_becomes_small(scores: int, submissions: int) -> None:
    needed = labels_needed(scores, submissions)
    assert gain(scores, needed, submissions) <= GAIN_ALLOWED < gain(scores, needed - 1, submissions)
    assert submissions_allowed(scores, needed) == submissions
    assert submissions_allowed(scores, needed - 1) == submissions - 1


def test_bits_count_the_values_of_scores_and_of_the_first_interval() -> None:
    assert bits_of([TOTAL, SKILL]) == pytest.approx(log2(10001) + 2 * log2(101) + log2(20001))


def phase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clips: int, allowed: object, **told: Any) -> list[Finding]:  # noqa: ANN401
    """Check a phase of so many clips, with two targets and two scores that depend on their labels."""
    rows = "".join(f"c{clip},s{clip},0.5,0.5\n" for clip in range(clips))
    write_files(tmp_path, {"ref/labels.csv": f"clip_id,source_id,openness,interview\n{rows}"})
    tasks = [{"index": "a", "reference_data": "ref/"}]
    phases = [{"tasks": ["a"], **({} if allowed == "default" else {"max_submissions": allowed})}]
    settings = {"targets": ["openness", "interview"], "report": {"truth": False}}
    answer = ScoringSettings(**{"columns": [TOTAL, SKILL, FAILED], "settings": settings, **told})
    monkeypatch.setattr("bundle_tools.challenge.rules.phases.scoring_settings", lambda _: {("tasks", 0): answer})
    return list(check_hidden_labels(ParsedBundle(tmp_path, {"tasks": tasks, "phases": phases}, {}, folder=True)))


# Two labels a clip, two scores: 77 clips are the fewest for six submissions, 2 * 5 / 0.0656 = 152.5 labels.
@pytest.mark.parametrize(
    ("clips", "allowed", "severity"),
    [(76, 6, "warning"), (77, 6, "note"), (2, 1, "note"), (77, "default", "warning"), (9000, None, "warning"),
     (9000, 0, "warning")],
)  # fmt: skip
def test_a_phase_that_tells_much_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clips: int, allowed: object, severity: str
) -> None:
    [found] = phase(tmp_path, monkeypatch, clips, allowed)
    assert (found.code, found.severity) == ("labels-told", severity)
    assert ("77 clips" in found.fix) == (clips == 76)


def test_nothing_is_said_where_nothing_is_hidden_or_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = {"targets": ["interview"], "report": {"truth": True}}
    assert phase(tmp_path, monkeypatch, 9, 6) != []
    assert phase(tmp_path, monkeypatch, 9, 6, settings=opened) == []
    assert phase(tmp_path, monkeypatch, 0, 6) == []
    assert phase(tmp_path, monkeypatch, 9, 6, columns=[FAILED, {"key": "accuracy"}], settings={}) == []
    rubbish: object
    for rubbish in ("6", -1, 2.5, []):
        assert phase(tmp_path, monkeypatch, 9, rubbish) == []


def test_the_committed_final_set_is_warned_of() -> None:
    [found] = check_hidden_labels(draft_of(ROOT))
    assert found.severity == "warning"
    assert found.what.startswith("7 scores and an interval reveal at most 109 bits of labels, 6 submissions 656;")
    assert found.fix == "Allow 2 in max_submissions, or take 89 clips."
