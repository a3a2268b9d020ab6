"""What a jury's ratings say: properties first, then who counts and who wins."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.errors import BundleError
from bundle_tools.jury.answers import Answers, read_answers
from bundle_tools.jury.key import Key
from bundle_tools.jury.panel import gather
from bundle_tools.jury.verdict import Verdict, judge, standardised, team_effects

from .juries import RULES, Rate, answers_of, honest, make_key, write_ratings

QUALITY = {"A": 2.0, "B": 4.0, "C": 3.0, "D": 1.0}
FAST = replace(RULES, resamples=60)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Key, Rate], list[Answers]]:
    def reading(key: Key, rate: Rate) -> list[Answers]:
        jurors = range(1, len(key.sheets) + 1)
        files = [
            write_ratings(tmp_path / f"{juror}.json", key, juror, answers_of(key, juror, rate)) for juror in jurors
        ]
        return read_answers(files, key, RULES)

    return reading


Read = Callable[[Key, Rate], list[Answers]]


def verdict(read: Read, rate: Rate, key: Key | None = None) -> Verdict:
    key = key or make_key()
    return judge(gather(key, RULES, read(key, rate)), key, FAST)


def test_the_best_team_wins_and_values_follow_quality(read: Read) -> None:
    found = verdict(read, honest(QUALITY))
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
    ours, theirs = (judge(gather(one, RULES, answers), one, FAST) for one in (key, shuffled))
    assert [(one.letter, one.value, one.place) for one in ours.placed] == [
        (one.letter, one.value, one.place) for one in theirs.placed
    ]
    back = judge(gather(key, RULES, answers[::-1]), key, FAST)
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
        found = judge(everyone, key, FAST)
        alphas += [one.alpha for one in found.agreement]
        bands.append(max(one.band for one in found.placed))
    assert abs(np.mean(alphas)) < 0.02
    # Each of six pairs is told apart by luck in about a tenth of the juries.
    assert np.mean(bands) < 1.7


def test_careless_jurors_are_left_out(read: Read) -> None:
    fair = honest(QUALITY, noise=0.3)

    def rate(juror: int, item: object) -> list[int]:
        kind = getattr(item, "kind", "")
        if juror == 1 and kind == "swapped":
            return [5] * 5
        if juror == 2 and kind == "repeat":
            return [5 - value for value in fair(juror, item)]  # type: ignore[arg-type]
        return fair(juror, item)  # type: ignore[arg-type]

    key = make_key()
    panel = gather(key, RULES, read(key, rate))
    assert ["other clips" in " ".join(juror.reasons) for juror in panel.jurors] == [True, False, False, False]
    assert ["second time" in " ".join(juror.reasons) for juror in panel.jurors] == [False, True, False, False]
    assert [juror.number for juror in panel.counting().jurors] == [3, 4]
    nobody = replace(panel, jurors=tuple(replace(juror, reasons=("x",)) for juror in panel.jurors))
    with pytest.raises(BundleError, match="No juror counts"):
        judge(nobody, key, FAST)


def test_a_missing_explanation_counts_as_the_worst(read: Read) -> None:
    quality = dict.fromkeys("ABCD", 3.0)
    key = make_key(missing=(("B", "c00"), ("B", "c03"), ("B", "c05"), ("B", "c06")))
    found = verdict(read, honest(quality, noise=0.3), key)
    last = found.placed[-1]
    assert (last.letter, last.band > 1) == ("B", True)
    assert last.value < min(one.value for one in found.placed[:-1]) - 0.8


def test_a_team_that_nobody_rated_has_no_value(read: Read) -> None:
    key = make_key()
    panel = gather(key, RULES, read(key, honest(QUALITY)))
    ratings = panel.ratings.copy()
    ratings[:, :, 2] = np.nan
    with pytest.raises(BundleError, match="team C: rated by no juror"):
        judge(replace(panel, ratings=ratings), key, FAST)
    ratings[1, 4, 2] = 3  # a single rating: many resamples have none
    assert {one.letter for one in judge(replace(panel, ratings=ratings), key, FAST).placed} == set("ABCD")


def test_agreement_is_about_what_was_rated(read: Read) -> None:
    draw = np.random.default_rng(5)
    key = make_key(clips=15, missing=tuple(("B", f"c{clip:02}") for clip in range(7)))
    panel = gather(key, RULES, read(key, lambda *_: [int(value) for value in draw.integers(0, 6, 5)]))
    found = judge(replace(panel, jurors=tuple(replace(juror, reasons=()) for juror in panel.jurors)), key, FAST)
    assert max(abs(one.alpha) for one in found.agreement) < 0.2


def test_ties_go_to_preference_and_then_to_an_extra_juror(read: Read) -> None:
    # By the jury B is above A, by measurement A above B: their mean ranks are the same, and preference decides.
    key = make_key(teams=2)
    key = replace(key, teams=(replace(key.teams[0], band=1), replace(key.teams[1], band=2)))
    assert [one.letter for one in verdict(read, honest({"A": 2.0, "B": 4.0}), key).placed] == ["B", "A"]
    same = {"genuine": 3, "repeat": 3, "swapped": 1, "boilerplate": 1}
    level = replace(key, teams=tuple(replace(team, band=1) for team in key.teams))
    tied = verdict(read, lambda _, item: [same[item.kind]] * 5, level)
    assert [one.place for one in tied.placed] == [1, 1]
    assert tied.extra_juror == ("team A", "team B")


def test_guesses_are_graded(read: Read) -> None:
    found = verdict(read, honest(QUALITY))
    assert [(one.simulated, one.imagined) for one in found.placed] == [(1.0, 1.0)] * 4
