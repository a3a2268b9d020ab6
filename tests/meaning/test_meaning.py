"""The score means something: known submissions come out in the right order, and stories at chance."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from score.pipeline import main
from tests.meaning.entrants import ENTRANTS
from tests.meaning.simulate import scores_of, write_run
from tests.meaning.table import COLUMNS, PAGE, ordered_right, read_table, score_in
from tests.meaning.world import make_world

Scores = dict[str, dict[str, float]]
CLIPS = 60
CHANCE = 0.15  # three standard errors at 100 clips


# The second world shows that the first one was no luck.
@pytest.fixture(scope="session", params=[1, pytest.param(3, marks=pytest.mark.slow)])
def scores(request: pytest.FixtureRequest) -> Scores:
    world = make_world(CLIPS, request.param)
    return {entrant.key: score_in(world, entrant) for entrant in ENTRANTS}


def column(scores: Scores, key: str, *entrants: str) -> list[float]:
    return [scores[entrant][key] for entrant in entrants]


def falling(values: list[float], by: float) -> bool:
    return all(better - worse > by for better, worse in pairwise(values))


@pytest.mark.parametrize("axis", ["faithfulness_space", "faithfulness_time", "cue_claims", "known_causes"])
def test_exact_beats_noisy_beats_random(scores: Scores, axis: str) -> None:
    values = column(scores, axis, "exact", "noise_0.5", "noise_1", "noise_2", "random")
    assert falling(values, 0.02), values


def test_the_total_falls_with_honesty(scores: Scores) -> None:
    values = column(scores, "explanation", "exact", "noise_0.5", "noise_1", "noise_2", "centre", "random")
    assert falling(values, 1), values


@pytest.mark.parametrize("axis", ["faithfulness_space", "faithfulness_time"])
@pytest.mark.parametrize("entrant", ["random", "uniform", "inverted", "hypersensitive", "text_right"])
def test_maps_that_show_nothing_are_at_chance(scores: Scores, axis: str, entrant: str) -> None:
    assert scores[entrant][axis] <= (0 if entrant in ("uniform", "inverted") else CHANCE)


def test_faithfulness_in_space_is_as_the_method_says(scores: Scores) -> None:
    # The simulation of the method: .81; .68, .51, .28 with noise; .37 for the centre; .17 for another clip's map.
    expected = {"exact": 0.81, "noise_0.5": 0.68, "noise_1": 0.51, "noise_2": 0.28, "centre": 0.37, "other": 0.17}
    found = {entrant: scores[entrant]["faithfulness_space"] for entrant in expected}
    assert found == pytest.approx(expected, abs=0.12)


def test_one_map_for_all_clips_gains_nothing_from_watching_it(scores: Scores) -> None:
    assert scores["guards_a_region"]["faithfulness_space"] <= 0.5
    assert scores["guards_a_region"]["faithfulness_time"] <= 0.5


def test_claims_are_as_the_method_says(scores: Scores) -> None:
    # The simulation of the method: .88, with noise .65 and .44; average claims .25, random and inverted 0.
    # The wide tolerance: what the text does not name counts for less here, and not in that simulation.
    expected = {"exact": 0.88, "noise_0.5": 0.65, "noise_1": 0.44, "average_claims": 0.25}
    found = {entrant: scores[entrant]["cue_claims"] for entrant in expected}
    assert found == pytest.approx(expected, abs=0.2)
    assert (
        scores["average_claims"]["cue_claims"] <= 0.3
    )  # without the contrast with other clips' claims it would be 0.36
    assert scores["random"]["cue_claims"] <= CHANCE
    assert column(scores, "cue_claims", "inverted", "inverted_claims", "face", "boilerplate") == [0, 0, 0, 0]


def test_known_causes_tell_the_truth_from_stories(scores: Scores) -> None:
    assert scores["exact"]["known_causes"] >= 0.8
    assert max(column(scores, "known_causes", "random", "inverted", "uniform", "other")) <= 0.3


@pytest.mark.parametrize("entrant", ["boilerplate", "numbers", "adjectives"])
def test_words_without_claims_are_worth_nothing(scores: Scores, entrant: str) -> None:
    assert scores[entrant]["text"] == 0
    assert scores[entrant]["explanation"] == 0


def test_honest_text_is_worth_something_alone(scores: Scores) -> None:
    assert scores["text_only"]["text"] >= 0.85
    assert 20 <= scores["text_only"]["explanation"] <= 45
    assert scores["random"]["text"] <= CHANCE  # its claims change with every small shake of the clip


def test_no_trick_pays(scores: Scores) -> None:
    honest = scores["text_only"]["explanation"]
    cheats = ("guards_a_region", "guards_a_secret", "centre", "other", "face", "uniform", "hypersensitive", "random")
    assert max(column(scores, "explanation", *cheats)) < honest


def test_the_secret_region_is_a_known_limit(scores: Scores) -> None:
    # Not what one would wish: written down so that a change is noticed.
    assert scores["guards_a_secret"]["faithfulness_space"] >= 0.85
    assert scores["guards_a_secret"]["explanation"] <= 20


def test_text_and_maps_add_up(scores: Scores) -> None:
    values = column(scores, "explanation", "exact", "text_right", "text_only")
    assert values[0] > values[1] + 10
    assert values[1] >= values[2] - 1


def test_an_account_of_a_model_without_skill_is_worth_nothing(scores: Scores) -> None:
    assert scores["constant"]["skill"] == 0
    assert scores["constant"]["explanation"] == 0


def test_everyone_who_writes_is_covered(scores: Scores) -> None:
    assert all(of["coverage"] == 1 for of in scores.values())


def test_the_scores_are_those_of_the_program(tmp_path: Path) -> None:
    # Here the steps of the program are called, and no page is made; a page would take most of the time.
    root = write_run(tmp_path, ENTRANTS[0], make_world(8, 1))
    assert main([str(root), str(root / "output")]) == 0
    assert json.loads((root / "output" / "scores.json").read_text()) == scores_of(root)


def test_a_little_more_noise_is_told_apart() -> None:
    assert ordered_right(clips=40, pairs=4)["explanation"] == 1


def test_the_page_states_what_comes_out(scores: Scores) -> None:
    stated = read_table(PAGE.read_text(encoding="utf-8"))
    assert stated.keys() == {entrant.title for entrant in ENTRANTS}
    for entrant in ENTRANTS:
        for key in COLUMNS:
            tolerance = 8.0 if key == "explanation" else 0.15
            assert stated[entrant.title][key] == pytest.approx(scores[entrant.key][key], abs=tolerance), (entrant, key)
