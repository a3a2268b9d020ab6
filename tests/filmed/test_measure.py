"""Detectors find what is there and nothing else; the rule is recomputed from their figures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import FunctionTransformer

from bundle_tools.challenge.reading.tables import PhaseData, read_settings
from bundle_tools.challenge.rules.detectability import unmeasured
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.filmed import features as features_module
from bundle_tools.filmed import measure as module
from bundle_tools.filmed.features import ALTERED, CONTROL, PLAIN, TIME, features
from bundle_tools.filmed.measure import area, measure
from bundle_tools.filmed.phase import FilmedPhase, write_exchanges
from tests.filmed.conftest import Made

PEOPLE = [f"p{number}" for number in range(30)]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 50)


@pytest.mark.parametrize("seed", range(3))
def test_a_second_sham_is_at_chance_and_a_shift_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    own = random.normal(0, 3, (30, 6))  # what tells people apart
    plain, sham = (own + random.normal(0, 1, own.shape) for _ in range(2))
    for figures in area(plain, sham, PEOPLE).values():
        assert figures["lower"] <= 0.55
        assert figures["auc"] <= 0.65
    sham[:, 2] += 9
    for figures in area(plain, sham, PEOPLE).values():
        assert figures["auc"] >= 0.8


def test_areas_and_intervals_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    first = FunctionTransformer()
    first.predict_proba = lambda values: np.repeat(values[:, :1], 2, axis=1)
    monkeypatch.setattr(module, "detectors", lambda: {"first": first})
    random = np.random.default_rng(3)
    plain, altered = (random.integers(0, 6, (30, 1)) / 5 for _ in range(2))  # with ties
    people = [f"p{number}" for number in random.integers(0, 8, 30)]
    values, truth, groups = np.concatenate([plain, altered])[:, 0], np.repeat([0, 1], 30), np.array(people * 2)
    who, draws, areas = np.unique(people), np.random.default_rng(module.SEED), []
    for _ in range(module.RESAMPLES):
        names = who[draws.integers(len(who), size=len(who))]
        rows = np.concatenate([np.flatnonzero(groups == name) for name in names])
        areas.append(roc_auc_score(truth[rows], values[rows]))
    lower, upper = np.percentile(areas, [2.5, 97.5])
    expected = {"auc": roc_auc_score(truth, values), "lower": lower, "upper": upper}
    assert area(plain, altered, people)["first"] == pytest.approx(expected, abs=1e-4)


def test_a_person_is_never_in_both_halves() -> None:
    """What is altered can be read off each person alone: detectors that see them again would be right."""
    random = np.random.default_rng(0)
    sides = random.permutation([-1, 1] * 15)
    plain = np.repeat(np.column_stack([np.arange(30) * 10.0, sides]), 4, axis=0)
    altered = plain * (1, -1)
    for figures in area(plain, altered, [who for who in PEOPLE for _ in range(4)]).values():
        assert figures["auc"] <= 0.6


def test_only_clips_with_all_parts_are_compared_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 5)
    random = np.random.default_rng(1)

    def clip(number: int, length: int) -> dict[str, Any]:
        vectors = {kind: random.normal(0, 1, 4).tolist() for kind in (PLAIN, ALTERED, CONTROL)}
        whole = {kind: random.normal(0, 1, length).tolist() for kind in (PLAIN, ALTERED)}
        return {"person": f"p{number % 6}", "features": {"mouth": vectors, TIME: whole}}

    figures = measure([*(clip(number, 8) for number in range(9)), clip(9, 4)])
    assert (figures["mouth"]["clips"], figures[TIME]["clips"], figures[TIME]["people"]) == (10, 9, 6)
    assert ("control" in figures["mouth"], "control" in figures[TIME]) == (True, False)
    assert measure([clip(0, 8), clip(6, 8)]) == {}  # one person


def test_features_tell_what_an_altered_call_shows(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features_module, "MOST_FRAMES", 36)
    found = features(made.versions, made.footage.joins, made.sham, made.other)
    assert set(found) == {"mouth", "eyes", TIME}
    for name, kinds in found.items():
        plain = np.array(kinds[PLAIN])
        assert np.isfinite(plain).all()
        assert (np.array(kinds[ALTERED]) != plain).any(), name
    away = {
        kind: np.abs(np.subtract(found["mouth"][kind], found["mouth"][PLAIN])).mean() for kind in (ALTERED, CONTROL)
    }
    assert away[CONTROL] > 1.5 * away[ALTERED]
    same = features(made.versions, made.footage.joins, made.sham, made.sham)
    assert all(kinds[ALTERED] == kinds[PLAIN] for kinds in same.values())


CLIPS = [f"c{number}" for number in range(10)]
GOOD = {"auc": 0.60, "lower": 0.5, "upper": 0.70}
Spoil = Callable[[dict[str, Any]], object]


def phase_of(folder: Path, entries: int = 6) -> dict[str, Any]:
    """Write a phase with exchanges, and return figures with which it may just rank."""
    for side in ("input", "reference"):
        (folder / side).mkdir()
        (folder / side / "task.yaml").write_text("task: practice\n")
    made = {"file": "exchanges/b.mp4", "sha256": "0", "first": {"file": "exchanges/a.mp4", "sha256": "0"}}
    results = [{"clip_id": clip, "entry": {**made, "parts": [{"name": "mouth"}]}} for clip in CLIPS[:entries]]
    phase = FilmedPhase("practice", folder / "input", folder / "reference", [], {})
    known = {"clips": 40, "people": 30, "detectors": {"one": dict(GOOD), "two": dict(GOOD)}}
    control = {name: {"auc": 0.8} for name in ("one", "two")}
    return {
        "format_version": 1,
        "exchanges_sha256": ["0" * 64, write_exchanges(phase, results)],
        "interventions": {"mouth": {**known, "control": control}, TIME: json.loads(json.dumps(known))},
    }


def reasons(folder: Path, *content: object) -> list[str]:
    """Return what keeps the phase from ranking, with these figures."""
    for figures in content:
        (folder / "reference/detectability.json").write_text(json.dumps(figures))
    sides = [DataFiles(folder / side) for side in ("input", "reference")]
    inputs, reference = (PhaseData(side.path.name, side, read_settings(side) or {}) for side in sides)
    return unmeasured(inputs, reference, CLIPS)


def detector(content: dict[str, Any], name: str = "mouth") -> dict[str, Any]:
    figures: dict[str, Any] = content["interventions"][name]["detectors"]["two"]
    return figures


RULES: dict[str, tuple[Spoil, str]] = {
    "figures that are none": (
        lambda content: content["interventions"]["mouth"].update(detectors={"one": 1, "two": []}, control={"one": []}),
        "mouth, one: auc None",
    ),
    "area": (lambda content: detector(content).update(auc=0.61), "mouth, two: auc 0.61: expected 0.60 or less"),
    "area in time": (lambda content: detector(content, TIME).update(auc=0.61), "time, two: auc 0.61"),
    "interval": (lambda content: detector(content).update(upper=0.71), "mouth, two: upper 0.71: expected 0.70 or less"),
    "no number": (lambda content: detector(content).update(auc="0.5"), "mouth, two: auc 0.5: expected"),
    "not a number": (lambda content: detector(content).update(auc=float("nan")), "mouth, two: auc nan"),
    "one detector": (lambda content: content["interventions"]["mouth"]["detectors"].pop("two"), "two detectors"),
    "control": (
        lambda content: content["interventions"]["mouth"]["control"]["one"].update(auc=0.79),
        "mouth, one: the control is found with auc 0.79: expected 0.80 or more",
    ),
    "people": (lambda content: content["interventions"][TIME].update(people=29), "time: measured on 29 people"),
    "not measured": (lambda content: content["interventions"].pop(TIME), "time: measured on 0 people"),
    "foreign": (lambda content: content.update(exchanges_sha256=["0" * 64]), "was measured on other exchanges"),
    "another format": (
        lambda content: content.update(format_version=2),
        "expected what `bundle data exchanges` writes",
    ),
}


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"probes": {"edits": 0}}, []),
        ({}, ["lighting"]),
        ({"faces": "faces.csv"}, ["framing", "lighting"]),
        ({"explanation": {"evidence": {"cues": ["framing", "words"]}}}, []),
        ({"explanation": {"evidence": {"cues": ["voice", "framing"]}}, "faces": "faces.csv"}, ["framing"]),
    ],
)
def test_cues_that_are_edited_must_be_measured(settings: dict[str, Any], missing: list[str], tmp_path: Path) -> None:
    content = phase_of(tmp_path)
    usual = {"probes": {"edits": 3}, "explanation": {"evidence": {"cues": ["lighting", "framing", "voice", "motion"]}}}
    task = {**yaml.safe_load((tmp_path / "input/task.yaml").read_text()), **usual, **settings}
    (tmp_path / "input/task.yaml").write_text(yaml.safe_dump(task))
    found = reasons(tmp_path, content)
    assert [line for line in found if "measured on 0 people" in line] == [
        f"{cue}: measured on 0 people: expected 30 or more" for cue in missing
    ]
    known = json.loads(json.dumps(content["interventions"][TIME]))
    control = {name: {"auc": 0.8} for name in ("one", "two")}
    content["interventions"] |= {"lighting": {**known, "control": control}, "framing": known, "voice": known}
    assert reasons(tmp_path, content) == []
    for name in missing:
        control["one"]["auc"] = 0.79
        weak = f"{name}, one: the control is found with auc 0.79: expected 0.80 or more"
        assert (weak in reasons(tmp_path, content)) == (name == "lighting")
        control["one"]["auc"] = 0.8
    content["interventions"]["voice"] = json.loads(json.dumps(known))
    detector(content, "voice")["auc"] = 0.61
    tested = {**usual, **settings}
    voiced = bool(tested["probes"]["edits"]) and "voice" in tested["explanation"]["evidence"]["cues"]
    found_out = "voice, two: auc 0.61: expected 0.60 or less, or no voice in the vocabulary"
    assert (found_out in reasons(tmp_path, content)) == voiced


def test_figures_at_the_limits_may_rank(tmp_path: Path) -> None:
    assert reasons(tmp_path, phase_of(tmp_path)) == []


@pytest.mark.parametrize("name", RULES)
def test_anything_worse_may_not(name: str, tmp_path: Path) -> None:
    content = phase_of(tmp_path)
    spoil, reason = RULES[name]
    spoil(content)
    assert [line for line in reasons(tmp_path, content) if reason in line], name


def test_without_figures_or_with_too_few_exchanges_nothing_ranks(tmp_path: Path) -> None:
    content = phase_of(tmp_path, entries=5)
    assert len(reasons(tmp_path)) == 2
    assert reasons(tmp_path, content) == ["50% of the clips have exchanges: expected 60% or more"]
    assert len(reasons(tmp_path, "rubbish")) == 2
