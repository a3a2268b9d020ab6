"""What a jury's ratings say: properties first, then who counts and who wins."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.challenge.jury.criteria import Key, RatedItem
from bundle_tools.challenge.jury.panel import RatedSheet, gather, read_answers
from bundle_tools.challenge.jury.publish import notes
from bundle_tools.challenge.jury.result import JuryResult, evaluate, resampled_effects, standardised, team_effects
from bundle_tools.errors import BundleError
from tests.challenge.jury.juries import RULES, Rate, answers_of, honest, make_key, write_ratings

QUALITY = {"A": 2.0, "B": 4.0, "C": 3.0, "D": 1.0}
FAST = replace(RULES, resamples=60)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Key, Rate], list[RatedSheet]]:
    def reading(key: Key, rate: Rate) -> list[RatedSheet]:
        jurors = range(1, len(key.sheets) + 1)
        files = [
            write_ratings(tmp_path / f"{juror}.json", key, juror, answers_of(key, juror, rate)) for juror in jurors
        ]
        return read_answers(files, key, RULES)

    return reading


Read = Callable[[Key, Rate], list[RatedSheet]]


def result(read: Read, rate: Rate, key: Key | None = None) -> JuryResult:
    key = key or make_key()
    return evaluate(gather(key, RULES, read(key, rate)), key, FAST)


def test_the_best_team_wins_and_values_follow_quality(read: Read) -> None:
    found = result(read, honest(QUALITY))
    by_value = sorted(found.placed, key=lambda one: -one.value)
    assert [one.letter for one in by_value] == ["B", "C", "A", "D"]
    for one in found.placed:
        assert one.value == pytest.approx(QUALITY[one.letter], abs=0.4)
        assert one.interval[0] <= one.value <= one.interval[1]
        assert 0 <= one.interval[0] <= one.interval[1] <= 5
    assert by_value[0].band == 1 < by_value[-1].band
    assert by_value[0].preference > 0.5 > by_value[-1].preference
    assert all(one.alpha > 0.3 for one in found.agreement)
    assert not found.extra_juror


def test_order_of_jurors_and_items_does_not_matter(read: Read) -> None:
    key = make_key()
    answers = read(key, honest(QUALITY))
    shuffled = replace(key, items=key.items[::-1])
    ours, theirs = (evaluate(gather(one, RULES, answers), one, FAST) for one in (key, shuffled))
    assert [(one.letter, one.value, one.place) for one in ours.placed] == [
        (one.letter, one.value, one.place) for one in theirs.placed
    ]
    back = evaluate(gather(key, RULES, answers[::-1]), key, FAST)
    assert [one.value for one in back.placed] == pytest.approx([one.value for one in ours.placed])


def test_a_strict_juror_and_one_who_spreads_change_nothing() -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=(3, 6, 4, 2))
    moved = table * np.array([1, 2, 0.5])[:, None, None, None] + np.array([0, -3, 9])[:, None, None, None]
    assert standardised(moved) == pytest.approx(standardised(table))


def test_effects_of_a_complete_jury_are_means_and_gaps_do_not_bias() -> None:
    random = np.random.default_rng(4)
    team, clip = np.array([1.0, 0.0, -1.0]), random.normal(size=8)
    scores = np.broadcast_to(team[None, None, :] + clip[None, :, None], (3, 8, 3)).copy()
    ones = np.ones(3), np.ones(8)
    assert team_effects(scores, *ones) == pytest.approx(team)
    noisy = scores + random.normal(size=scores.shape)
    means = noisy.mean(axis=(0, 1))
    assert team_effects(noisy, *ones) == pytest.approx(means - means.mean())
    easiest = np.argsort(clip)[-4:]
    scores[:, easiest, 0] = np.nan  # the best team is not rated on the clips on which everybody shines
    assert team_effects(scores, *ones) == pytest.approx(team)


def test_jurors_at_random_are_at_chance(read: Read) -> None:
    key = make_key(clips=15, jurors=6)
    alphas, bands = [], []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        panel = gather(key, RULES, read(key, lambda *_, draw=draw: [int(value) for value in draw.integers(0, 6, 5)]))
        everyone = replace(panel, jurors=tuple(replace(juror, reasons=()) for juror in panel.jurors))
        found = evaluate(everyone, key, FAST)
        alphas += [one.alpha for one in found.agreement]
        bands.append(max(one.band for one in found.placed))
    assert abs(np.mean(alphas)) < 0.02
    # Each of six pairs is told apart by luck in about a tenth of the juries.
    assert np.mean(bands) < 1.7


def test_careless_jurors_are_left_out(read: Read) -> None:
    fair = honest(QUALITY, noise=0.3)

    def rate(juror: int, item: object) -> list[int]:
        kind = getattr(item, "kind", "")
        if juror == 2 and kind == "repeat":
            return [5 - value for value in fair(juror, item)]  # type: ignore[arg-type]
        return fair(juror, item)  # type: ignore[arg-type]

    key = make_key()
    panel = gather(key, RULES, read(key, rate))
    assert ["second time" in " ".join(juror.reasons) for juror in panel.jurors] == [False, True, False, False]
    assert [juror.number for juror in panel.counting().jurors] == [1, 3, 4]
    nobody = replace(panel, jurors=tuple(replace(juror, reasons=("x",)) for juror in panel.jurors))
    with pytest.raises(BundleError, match="No juror counts"):
        evaluate(nobody, key, FAST)


def test_a_missing_explanation_counts_as_the_worst(read: Read) -> None:
    quality = dict.fromkeys("ABCD", 3.0)
    key = make_key(missing=(("B", "c00"), ("B", "c03"), ("B", "c05"), ("B", "c06")))
    found = result(read, honest(quality, noise=0.3), key)
    last = found.placed[-1]
    assert (last.letter, last.band > 1) == ("B", True)
    assert last.value < min(one.value for one in found.placed[:-1]) - 0.8


def test_a_team_that_nobody_rated_has_no_value(read: Read) -> None:
    key = make_key()
    panel = gather(key, RULES, read(key, honest(QUALITY)))
    ratings = panel.ratings.copy()
    ratings[:, :, 2] = np.nan
    with pytest.raises(BundleError, match="team C: no juror who counts rated them"):
        evaluate(replace(panel, ratings=ratings), key, FAST)
    ratings[1, 4, 2] = 3  # a single rating: many resamples have none
    assert {one.letter for one in evaluate(replace(panel, ratings=ratings), key, FAST).placed} == set("ABCD")


def test_agreement_is_about_what_was_rated(read: Read) -> None:
    draw = np.random.default_rng(5)
    key = make_key(clips=15, missing=tuple(("B", f"c{clip:02}") for clip in range(7)))
    panel = gather(key, RULES, read(key, lambda *_: [int(value) for value in draw.integers(0, 6, 5)]))
    found = evaluate(replace(panel, jurors=tuple(replace(juror, reasons=()) for juror in panel.jurors)), key, FAST)
    assert max(abs(one.alpha) for one in found.agreement) < 0.2


def test_ties_go_to_preference_and_then_to_an_extra_juror(read: Read) -> None:
    # By the jury B is above A, by measurement A above B: their mean ranks are the same, and preference decides.
    key = make_key(teams=2)
    key = replace(key, teams=(replace(key.teams[0], band=1), replace(key.teams[1], band=2)))
    assert [one.letter for one in result(read, honest({"A": 2.0, "B": 4.0}), key).placed] == ["B", "A"]
    level = replace(key, teams=tuple(replace(team, band=1) for team in key.teams))
    tied = result(read, lambda _, item: [1 if item.kind == "boilerplate" else 3] * 5, level)
    assert [one.place for one in tied.placed] == [1, 1]
    assert tied.extra_juror == ("team A", "team B")


def test_a_juror_who_rated_the_weaker_teams_only_does_not_lift_them() -> None:
    random = np.random.default_rng(6)
    team, clip, juror = np.array([1.0, 0.0, -1.0]), random.normal(size=8), np.array([0.5, -2.0, 1.0])
    scores = team[None, None, :] + clip[None, :, None] + juror[:, None, None]
    scores[1, 1:, 0] = np.nan
    assert team_effects(scores, np.ones(3), np.ones(8)) == pytest.approx(team)


def test_places_follow_the_published_values(read: Read) -> None:
    # A is ahead by a point in clarity, where the teams differ much; B by a little in each of the others, where they
    # differ little: in units of the spread B would be first.
    key = make_key(teams=3)
    key = replace(key, teams=tuple(replace(team, band=1) for team in key.teams))
    genuine = {"A": [5, 2, 2, 2, 2], "B": [3, 2, 2, 2, 2], "C": [0, 2, 2, 2, 2]}

    def rate(_: int, item: RatedItem) -> list[int]:
        little = [0, 1, 1, 0, 0] if item.letter == "B" and item.clip_id in ("c02", "c04") else [0] * 5
        return [one + more for one, more in zip(genuine[item.letter], little, strict=True)]

    found = result(read, rate, key)
    assert [one.letter for one in found.placed] == ["A", "B", "C"]
    assert found.placed[0].value > found.placed[1].value
    assert found.placed[0].z < found.placed[1].z


@pytest.mark.parametrize("jurors", [2, 3, 5])
def test_intervals_know_how_few_jurors_there_are(jurors: int) -> None:
    # Jurors differ in what they think of each team, and in nothing else: then the error of a mean is s / sqrt(k).
    liked = np.random.default_rng(8).normal(size=(jurors, 3))
    liked -= liked.mean(axis=1, keepdims=True)
    scores = np.broadcast_to(liked[:, None, :, None], (jurors, 6, 3, 1))
    drawn = np.stack(resampled_effects(scores, replace(RULES, resamples=1000)))[:, :, 0]
    assert drawn.std(axis=0) == pytest.approx(liked.std(axis=0, ddof=1) / np.sqrt(jurors), rel=0.06)


def test_who_passes_the_repeats_over_is_left_out(tmp_path: Path) -> None:
    key = make_key(jurors=1)
    answers = answers_of(key, 1, honest(QUALITY))
    for item in key.items:
        if item.kind == "repeat":
            answers[item.item_id]["cannot_judge"] = True
    panel = gather(key, RULES, read_answers([write_ratings(tmp_path / "1.json", key, 1, answers)], key, RULES))
    assert "did not judge the repeated items" in " ".join(panel.jurors[0].reasons)
    without = replace(key, items=tuple(item for item in key.items if item.kind != "repeat"))
    answers = {item.item_id: answers[item.item_id] for item in without.items}
    alone = read_answers([write_ratings(tmp_path / "2.json", without, 1, answers)], without, RULES)
    assert gather(without, RULES, alone).jurors[0].counts  # none on the sheet: nothing to pass over


def test_passed_over_items_are_counted_by_team(read: Read, tmp_path: Path) -> None:
    key = make_key(jurors=1)
    answers = answers_of(key, 1, honest(QUALITY, noise=0.2))
    for name in ("g-C-c03", "g-C-c04"):
        answers[name]["cannot_judge"] = True
    panel = gather(key, RULES, read_answers([write_ratings(tmp_path / "1.json", key, 1, answers)], key, RULES))
    assert {one.letter: one.passed for one in evaluate(panel, key, FAST).placed} == {"A": 0, "B": 0, "C": 2, "D": 0}


@pytest.mark.parametrize("jurors", [1, 2])
@pytest.mark.parametrize("gone", [0, 8])
def test_small_juries_and_silent_teams_still_give_numbers(read: Read, jurors: int, gone: int) -> None:
    key = make_key(jurors=jurors, missing=tuple(("B", f"c{clip:02}") for clip in range(gone)))
    panel = gather(key, RULES, read(key, honest(QUALITY, noise=0.3)))
    found = evaluate(panel, key, FAST)
    for one in found.placed:
        assert 0 <= one.interval[0] <= one.value <= one.interval[1] <= 5
    if gone:
        values = {one.letter: one.value for one in found.placed}
        assert min(values, key=lambda letter: values[letter]) == "B"
        assert values["B"] == pytest.approx(0, abs=0.3)
    assert [f"Only {'one juror counts' if jurors == 1 else 'two jurors count'}" in note for note in notes(panel)] == [
        True
    ]
    assert all(np.isnan(one.alpha) for one in found.agreement) == (jurors == 1)
