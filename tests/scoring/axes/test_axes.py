"""The axes: chance levels and orderings on simulated runs, then worked numbers.

The simulated model reacts to a patch of cells that moves from clip to clip; twelve blocks of cells are hidden in turn.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from score.axes.cue_claims import clip_claims
from score.axes.effects import evaluated_targets, measure_effects, repeated_difference
from score.axes.faithfulness import Agreement, agreement, clip_faithfulness, faithfulness, gini_correlation
from score.axes.known_causes import main_causes, map_agreement, union
from score.axes.plausibility import clip_plausibility
from score.axes.ranks import average_ranks, correlation
from score.axes.table import AxisSums, credited_error
from score.axes.text import distance, specificity
from score.axes.total import credited_skill, power_mean
from score.evaluation.clip_numbers import held_up, label_free
from score.measure.noise import noise_floor, resolution
from score.read.output.explanation_record import NO_EXPLANATION
from score.read.output.probe_record import ProbeCall
from score.read.reference.known import Observation
from score.settings import AXES, ExplanationScore
from score.text.reading import join_claims
from tests import there
from tests.scoring.axes.calls import VOCABULARY, call, effects_of

Array = NDArray[np.float64]
CELLS = 144
VALUE = st.floats(0, 1).map(lambda value: round(value, 4))


def patches(count: int, seed: int = 0) -> Array:
    """(n, 144) what the model reacts to: a patch that moves about the middle, and a corner of its own."""
    rng = np.random.default_rng(seed)
    maps = np.zeros((count, 9, 16))
    for each in maps:
        row, column = rng.integers(1, 6), rng.integers(3, 10)
        each[row : row + 2, column : column + 3] = 1
        each[rng.integers(0, 9), rng.integers(0, 16)] += 1
    return maps.reshape(count, CELLS)


BLOCKS = [
    tuple(block.ravel().tolist())
    for rows in np.split(np.arange(CELLS).reshape(9, 16), 3)
    for block in np.split(rows, 4, axis=1)
]


def ask(truth: Array, gain: float = 0.02, noise: float = 0.0, seed: int = 1) -> list[list[ProbeCall]]:
    """The second pass in space of a model that loses ``gain`` for each cell of ``truth`` that is hidden."""
    rng = np.random.default_rng(seed)
    return [
        [
            call("original", 0.5),
            *(
                call("space", float(np.clip(0.5 - gain * each[list(block)].sum() + noise * rng.normal(), 0, 1)), block)
                for block in BLOCKS
            ),
        ]
        for each in truth
    ]


def judged(maps: Array, calls: list[list[ProbeCall]]) -> Agreement:
    """How maps in space, (n, 144), agree with the calls."""
    told = [replace(NO_EXPLANATION, space=each.reshape(9, 16)) for each in maps]
    return agreement(told, effects_of(calls), "space")


def value(found: Agreement) -> float:
    """What the axis is before it is cut to 0."""
    return float(faithfulness(*found.columns.mean(axis=0)[:, None])[0])


def space_score(maps: Array, truth: Array, gain: float = 0.02) -> float:
    return max(0.0, value(judged(maps, ask(truth, gain))))


class TestFaithfulness:
    truth = patches(100)
    rng = np.random.default_rng(3)

    def test_exact_beats_noisy_beats_random(self) -> None:
        noise = self.rng.normal(size=(100, CELLS))
        noisy = [space_score(np.clip(self.truth + s * noise, 0, None), self.truth) for s in (0.5, 1, 2)]
        y, x = np.mgrid[0:9, 0:16]
        prior = np.tile(np.exp(-(((y - 4) / 3) ** 2) - ((x - 7.5) / 4) ** 2).ravel(), (100, 1))
        scores = [space_score(self.truth, self.truth), *noisy]
        assert scores[0] > 0.8
        assert scores == sorted(scores, reverse=True)
        assert scores[2] > self.random()
        assert self.random() < space_score(prior, self.truth) < 0.45

    def random(self) -> float:
        return space_score(self.rng.random((100, CELLS)), self.truth)

    def test_random_maps_are_at_chance(self) -> None:
        assert max(self.random() for _ in range(5)) < 0.15

    def test_uniform_inverted_and_foreign_maps(self) -> None:
        assert space_score(np.ones((100, CELLS)), self.truth) == 0
        assert space_score(self.truth.max() - self.truth, self.truth) == 0
        assert space_score(np.roll(self.truth, 1, axis=0), self.truth) < 0.3

    def test_a_model_that_reacts_to_everything_gains_nothing(self) -> None:
        loud = self.rng.random((100, CELLS)) / CELLS
        assert space_score(self.rng.random((100, CELLS)), loud, gain=4) < 0.05

    def test_the_same_map_for_all_clips_has_no_second_half(self) -> None:
        same = judged(np.tile(np.arange(CELLS, dtype=float), (100, 1)), ask(self.truth))
        assert same.others == pytest.approx(same.own)
        assert value(same) == pytest.approx(same.own.mean() / 2)

    def test_the_scale_of_a_map_changes_nothing(self) -> None:
        maps = np.abs(self.truth + self.rng.normal(size=(100, CELLS)))
        scales = self.rng.uniform(0.01, 100, size=(100, 1))
        assert space_score(scales * maps, self.truth) == pytest.approx(space_score(maps, self.truth))

    def test_a_quieter_model_scores_the_same_until_its_effects_are_too_small(self) -> None:
        calls = [space_score(self.truth, self.truth, gain=gain) for gain in (0.04, 0.02, 0.01, 1e-5)]
        assert calls[1] == pytest.approx(calls[0], abs=0.02)
        assert calls[2] == pytest.approx(calls[1], abs=0.03)
        assert calls[3] < 0.3

    def test_the_order_of_clips_changes_nothing(self) -> None:
        calls = ask(self.truth, noise=0.01)
        forward, backward = judged(self.truth, calls), judged(self.truth[::-1], calls[::-1])
        assert forward.columns[::-1] == pytest.approx(backward.columns)

    def test_missing_clips_count_nothing(self) -> None:
        calls = ask(self.truth)
        fewer = judged(self.truth, [*calls[:75], *([] for _ in range(25))])
        assert fewer.own[:75] == pytest.approx(judged(self.truth, calls).own[:75])
        assert (fewer.columns[75:] == 0).all()
        assert value(fewer) < value(judged(self.truth, calls))

    def test_failing_never_pays(self) -> None:
        """Not even on exactly the calls that speak against the map."""
        calls = ask(self.truth)
        maps = self.rng.random((100, CELLS))
        before = judged(maps, calls)
        for place in range(1, len(BLOCKS) + 1):
            crashed = [[*row[:place], replace(row[place], prediction=None), *row[place + 1 :]] for row in calls]
            after = judged(maps, crashed)
            assert (after.own <= before.own).all()
            assert (after.others >= before.others).all()
            assert value(after) < value(before)
        silent = [[replace(row[0], prediction=None), *row[1:]] for row in calls]
        assert judged(maps, silent).columns.tolist() == [[-1, 1]] * 100

    def test_worked_numbers(self) -> None:
        # Effects .1, .02 and .03 and epsilon 5e-4. Ranks of the effects 3, 1, 2, of the maps 2, 1, 3 and 1, 2.5, 2.5.
        row = [call("original", 0.5), call("space", 0.4, (0,)), call("space", 0.52, (1, 2)), call("space", 0.47, (3,))]
        first, second = np.zeros(CELLS), np.zeros(CELLS)
        first[:4], second[:4] = (2, 1, 2, 3), (1, 3, 3, 3)
        most = 0.1 - 0.02 + 5e-4
        own, other = (0.03 - 0.02) / most, (-0.1 + 0.02 / 2 + 0.03 / 2) / most
        found = judged(np.stack([first, second]), [row, row])
        assert found.own == pytest.approx([own, other])
        assert found.others == pytest.approx([other, own])
        assert judged(first[None], [row]).columns == pytest.approx(np.array([[own, 0]]))  # nobody else
        assert judged(first[None], [row[:2]]).columns == pytest.approx(np.zeros((1, 2)))  # one thing has no order

    @pytest.mark.parametrize(
        ("own", "others", "expected"),
        [(1, 0, 1), (1, 0.6, 1), (0.5, 0.5, 0.25), (0.8, 0.2, 0.775), (0, 0, 0), (0.4, -0.2, 0.5), (-1, 1, -100.5)],
    )
    def test_own_and_others_by_hand(self, own: float, others: float, expected: float) -> None:
        assert faithfulness(np.array([own]), np.array([others])) == pytest.approx([expected])
        assert clip_faithfulness(np.array([[own, others]] * 3)) == pytest.approx([expected] * 3)

    def test_a_map_of_another_length_is_stretched(self) -> None:
        row = [call("original", 0.5), call("time", 0.4, (0, 1)), call("time", 0.5, (2, 3))]
        told = [replace(NO_EXPLANATION, time=np.array(weights)) for weights in ([1.0, 1, 0, 0], [1.0, 0])]
        found = agreement(told, effects_of([row, []]), "time")
        assert found.others[0] == pytest.approx(found.own[0])


class TestGiniCorrelation:
    @given(effects=st.lists(VALUE, min_size=2, max_size=6), epsilon=st.floats(1e-4, 0.1), seed=st.integers(0, 99))
    def test_bounds_and_symmetry(self, effects: list[float], epsilon: float, seed: int) -> None:
        e, w = np.array(effects), np.random.default_rng(seed).random((1, len(effects)))
        best = gini_correlation(e, e[None], epsilon)[0]
        found = gini_correlation(e, w, epsilon)[0]
        assert -1 < -best - 1e-12 <= found <= best + 1e-12 < 1
        assert found == pytest.approx(-gini_correlation(e, -w, epsilon)[0])

    def test_orders_by_lot_are_at_chance(self) -> None:
        w = np.random.default_rng(1).random((20_000, 5))
        assert gini_correlation(np.array([0.3, 0.1, 0.0, 0.0, 0.02]), w, 1e-3).mean() == pytest.approx(0, abs=0.01)

    def test_one_effect_of_the_size_of_epsilon_counts_half(self) -> None:
        e = np.array([0.01, 0, 0, 0])
        assert gini_correlation(e, e[None], 0.01) == pytest.approx([0.5])

    def test_agrees_with_a_covariance_of_ranks(self) -> None:
        rng = np.random.default_rng(2)
        for _ in range(50):
            e, w = rng.random(6), rng.random(6)
            by_numpy = np.cov(e, average_ranks(w))[0, 1] / np.cov(e, average_ranks(e))[0, 1]
            assert gini_correlation(e, w[None], 1e-12) == pytest.approx([by_numpy])


class TestNoise:
    def test_resolution_by_hand(self) -> None:
        first = np.array([[0.4, 0.5], [0.6, 0.5], [np.nan, np.nan]])
        again = np.array([[0.41, 0.5], [0.6, np.nan], [0.3, 0.3]])
        floor = noise_floor(first, again)
        assert floor == pytest.approx([0.005, 0])
        # spread .1 and 0: max(5e-4, .005) and 5e-4; answers of two processes .01 apart
        assert resolution(None, first) == pytest.approx([0.005, 5e-4])
        assert resolution(np.array([0.01, 0]), first) == pytest.approx([0.02, 5e-4])


class TestClaims:
    """150 clips, 8 cues; two causes and one other cue are edited."""

    rng = np.random.default_rng(4)

    def run(self, claims: Array, share: float = 1.0) -> float:
        return max(0.0, float(self.clips(claims, share).mean()))

    def clips(self, claims: Array, share: float = 1.0) -> Array:
        calls = []
        for clip, row in enumerate(self.truth):
            order = np.argsort(-np.abs(row))
            edits = [*order[:2], order[-1 - clip % 3]]
            calls.append(
                [call("original", 0.5), *(call("cue", 0.5 - share * 0.3 * row[k], cue=VOCABULARY[k]) for k in edits)]
            )
        return clip_claims(claims[:, None, :], effects_of(calls), np.zeros(len(calls), dtype=np.int64))

    @property
    def truth(self) -> Array:
        rng = np.random.default_rng(8)
        return np.asarray(np.clip(rng.normal(size=(150, 8)) * rng.choice([0.2, 0.5], (150, 8)), -1, 1))

    def test_levels(self) -> None:
        truth = self.truth
        assert self.run(truth) > 0.95
        assert 0.5 < self.run(np.sign(truth)) < 0.75  # signs have no size
        assert self.run(self.rng.normal(size=truth.shape)) < 0.15
        assert self.run(np.abs(truth) * self.rng.choice([-1, 1], truth.shape)) < 0.2
        assert self.run(-truth) == 0
        assert self.run(np.zeros_like(truth)) == 0
        assert self.run(np.tile(truth.mean(axis=0), (150, 1))) < 0.3

    def test_noise_costs_at_every_step(self) -> None:
        noise = self.rng.normal(size=self.truth.shape) * self.truth.std()
        scores = [self.run(self.truth + amount * noise) for amount in (0, 0.25, 0.5, 1, 2)]
        assert scores == sorted(scores, reverse=True)

    def test_inverted_claims_are_the_mirror_image_without_size(self) -> None:
        direction = 2 * self.clips(self.truth) - 1  # exact claims have a size of 1, but for effects below epsilon
        assert self.clips(-self.truth) == pytest.approx(-direction / 2, abs=1e-3)

    def test_the_size_of_claims_and_effects_is_free(self) -> None:
        assert self.run(self.truth / 5) == pytest.approx(self.run(self.truth))
        assert self.run(self.truth, share=0.5) == pytest.approx(self.run(self.truth), abs=0.02)

    def test_failing_never_pays(self) -> None:
        calls = [[call("original", 0.5), call("cue", None, cue="cue0"), call("cue", 0.4, cue="cue1")]] * 2
        claims = np.zeros((2, 1, 8))
        claims[:, 0, 1] = 1
        assert clip_claims(claims, effects_of(calls), np.zeros(2, dtype=np.int64)) == pytest.approx([-1.25, -1.25])

    def test_worked_numbers(self) -> None:
        # Effects .1 and -.05 of cue 0 and 1. The first claims 1 and 0: cos = .1 / sqrt(.0125); the second 0 and 1.
        row = [call("original", 0.5), call("cue", 0.4, cue="cue0"), call("cue", 0.55, cue="cue1")]
        claims = np.zeros((2, 1, 8))
        claims[0, 0, 0] = claims[1, 0, 1] = 1
        a, b = 0.1 / 0.0125**0.5, -0.05 / 0.0125**0.5
        found = clip_claims(claims, effects_of([row, row]), np.zeros(2, dtype=np.int64))
        # Sizes: the best factor is (.1 - .05) / 2 = .025; off by .075 + .05, and .1 + .075, of .15.
        assert found == pytest.approx([(a - b / 2 + 1 - 0.125 / 0.15) / 2, (b - a / 2 + 1 - 0.175 / 0.15) / 2])
        # Alone the factor is .1: the other effect is missed.
        alone = clip_claims(claims[:1], effects_of([row]), np.zeros(1, dtype=np.int64))
        assert alone == pytest.approx([(a + 1 - 0.05 / 0.15) / 2])

    def test_a_size_that_is_far_off_is_no_worse_than_nothing_right(self) -> None:
        """Both clips claim 1; the effects are .01 and .4, the best factor .205: off by 19 times the first effect."""
        rows = [[call("original", 0.5), call("cue", 0.5 - effect, cue="cue0")] for effect in (0.01, 0.4)]
        claims = np.zeros((2, 1, 8))
        claims[:, 0, 0] = 1
        found = clip_claims(claims, effects_of(rows), np.zeros(2, dtype=np.int64))
        assert found == pytest.approx([(1 / 2 - 1) / 2, (1 / 2 + 1 - 0.195 / 0.4) / 2])


@pytest.mark.parametrize(
    ("submitted", "told", "counts"),
    [
        ((0.4, -0.3, 0.1, 0), (1, -1, 0, 0), (0.4, -0.3, 0.1, 0)),  # the text sums the numbers up
        ((0.4, -0.3, 0.1, 0), (1, 0, 0, 0), (0.4, -0.3, 0.1, 0)),
        ((0.4, -0.3, 0.1, 0), (1, -1, 1, 0), (0.4, -0.3, 0.1, 0)),
        ((0.4, -0.3, 0.1, 0), (0, -1, 0, 0), (0, -0.3, 0, 0)),  # not the largest
        ((0.4, -0.3, 0.1, 0), (1, 1, 0, 0), (0.4, 0, 0, 0)),  # another sign
        ((0.4, -0.3, 0.1, 0), (1, -1, 0, 1), (0.4, -0.3, 0, 0)),  # something that the numbers lack
        ((0.3, 0.3, 0.1, 0), (0, 1, 0, 0), (0.3, 0.3, 0.1, 0)),  # of two that are equal either may be named
        ((0.4, -0.3, 0.1, 0), (0, 0, 0, 0), (0.4, -0.3, 0.1, 0)),
        ((0, 0, 0, 0), (1, -1, 0, 0), (1, -1, 0, 0)),
    ],
)
def test_claims_of_text_and_evidence_are_joined(
    submitted: tuple[float, ...], told: tuple[float, ...], counts: tuple[float, ...]
) -> None:
    joined = join_claims(np.array(submitted, float)[None, None], np.array(told, float)[None, None])
    assert joined[0, 0].tolist() == list(counts)


def test_evaluated_targets_are_half_the_main_one_and_hang_on_id_and_seed() -> None:
    ids = [f"c{number:09x}" for number in range(2000)]
    drawn = evaluated_targets(ids, 6, 5, 1)
    assert 0.45 < (drawn == 5).mean() < 0.55
    assert all(0.07 < (drawn == number).mean() < 0.13 for number in range(5))
    assert (evaluated_targets(ids[::-1], 6, 5, 1) == drawn[::-1]).all()
    assert (evaluated_targets(ids, 6, 5, 2) != drawn).any()
    assert (evaluated_targets(ids, 1, 0, 1) == 0).all()


def test_main_causes_by_hand() -> None:
    # .5 + .2 = .7 of 1 is too little, with .15 it is enough
    assert main_causes(np.array([0.1, -0.5, 0.2, 0.15, 0.05])).tolist() == [False, True, True, True, False]
    assert main_causes(np.array([0.8, 0.2])).tolist() == [True, False]
    assert not main_causes(np.zeros(3)).any()


def test_masks_and_maps_by_hand() -> None:
    mask = there(union([np.array([True, False, False]), np.array([False, False, True, False])]))
    assert mask.tolist() == [True, False, True, False]
    assert union([]) is None
    assert union([np.ones(3, dtype=bool)]) is None
    assert map_agreement(np.array([1.0, 0, 1, 0]), mask) == 1
    assert map_agreement(np.array([1.0]), mask) == pytest.approx(0.5)  # the missing seconds have weight 0
    assert map_agreement(np.array([1.0, 0, 1, 0, 9]), mask) == 1


def test_distance_of_claims_by_hand() -> None:
    smile, gaze, away = ("smile", "interview", 1), ("gaze", "interview", 1), ("gaze", "interview", -1)
    # One of three different claims in common: 1 - 1/3.
    assert distance(frozenset({smile, gaze}), frozenset({smile, away})) == pytest.approx(2 / 3)
    assert distance(frozenset(), frozenset()) == 0
    assert distance(frozenset({smile}), frozenset()) == 1


@pytest.mark.parametrize(
    ("between", "within", "expected"),
    [(0, 0, 0), (0.8, 0, 1), (0.5, 0.5, 0), (0.25, 0, 0.5), (0.8, 0.2, 0.75), (0.4, 0.9, 0)],
)
def test_specificity(between: float, within: float, expected: float) -> None:
    assert specificity(np.array([between]), np.array([within])) == pytest.approx([expected])


class TestRepeats:
    """Copies that are asked again, of a fresh process."""

    copy = call("cue", 0.4, cue="cue0")

    def test_the_largest_difference_by_hand(self) -> None:
        again = [call("cue", 0.43, cue="cue0", again=True), call("space", 0.3, (1,), again=True)]
        row = [call("original", 0.5), self.copy, call("space", 0.2, (1,)), *again]
        assert repeated_difference([row, row[:3]], np.array([2.0])) == pytest.approx([0.05])
        assert repeated_difference([row[:3]], np.ones(1)) is None
        unanswered = [call("cue", None, cue="cue0"), call("cue", 0.4, cue="cue0", again=True)]
        assert repeated_difference([unanswered, unanswered[::-1]], np.ones(1)) is None

    def test_smaller_effects_do_not_count(self) -> None:
        rows = [
            [call("original", 0.49), self.copy, call("cue", again, cue="cue0", again=True)] for again in (0.4, 0.42)
        ]
        effects = effects_of(rows)
        assert effects.floor == pytest.approx([0.01])  # of jitter: |.5 - .49|, in no effect
        assert effects.epsilon == pytest.approx([0.04, 0.04])
        assert (effects.asked, effects.answered) == (4, 4)  # of the plan

    def test_an_effect_of_memory_is_none(self) -> None:
        honest = [call("original", 0.5), self.copy]
        claims = np.zeros((1, 1, 8))
        claims[0, 0, 0] = 1
        remembered = [*honest, call("cue", 0.5, cue="cue0", again=True)]
        target = np.zeros(1, dtype=np.int64)
        assert clip_claims(claims, effects_of([honest]), target) == pytest.approx([1])
        assert clip_claims(claims, effects_of([remembered]), target) == pytest.approx([0])

    def test_failing_when_asked_again_is_failing(self) -> None:
        masks = [call("space", 0.4, (1,)), call("space", 0.5, (2,))]
        row = [call("original", 0.5), self.copy, *masks]
        broken = [*row, call("cue", None, cue="cue0", again=True), call("space", None, (1,), again=True)]
        assert not effects_of([row]).edit_failed.any()
        assert effects_of([broken]).edit_failed.all()
        one = np.eye(1, CELLS, 1)
        assert judged(one, [broken]).columns.tolist() == [[-1, 1]]
        assert judged(one, [row]).own > 0


class TestCreditedError:
    """What earns credit is the function that is tested, whatever was said in the first pass."""

    @pytest.mark.parametrize(
        ("first", "calls", "expected"),
        [
            (0.7, [], 0.0),  # not asked: the first pass
            (0.7, [call("original", 0.5)], 0.2),
            (0.5, [call("original", 0.7)], 0.0),
            (0.7, [call("original", None)], 1.0),
            (0.7, [call("original", 0.7), call("original", None, again=True)], 1.0),
            (0.7, [call("cue", None, cue="cue0")], 0.0),
            (np.nan, [call("original", 0.7)], 1.0),
        ],
    )
    def test_worked_numbers(self, first: float, calls: list[ProbeCall], expected: float) -> None:
        prediction = np.array([[first]])
        effects = effects_of([calls], first)
        assert credited_error(np.array([[0.7]]), prediction, effects) == pytest.approx(np.array([[expected]]))

    def test_the_answer_is_brought_to_the_unit_scale(self) -> None:
        scale = (np.array([1.0]), np.array([4.0]))
        effects = measure_effects(
            [[call("original", 3.0)]], np.array([[0.9]]), scale, np.zeros(1, np.int64), VOCABULARY
        )
        assert credited_error(np.array([[0.75]]), np.array([[0.9]]), effects) == pytest.approx(np.array([[0.25]]))


class TestTotal:
    score = ExplanationScore()

    def mean(self, **axes: float) -> float:
        values = {name: np.array([axes.get(name, 0.0)]) for name in AXES}
        return float(power_mean(values, self.score, frozenset())[0])

    def test_worked_numbers(self) -> None:
        assert self.mean(**dict.fromkeys(AXES, 0.6)) == pytest.approx(0.6)
        assert self.mean(faithfulness_space=1.0) == pytest.approx(0.0441)
        # the best text-only entry: (.37 sqrt(.75) + .21 sqrt(.5) + .05)^2
        assert self.mean(cue_claims=0.75, known_causes=0.5, text=1.0) == pytest.approx(0.2693, abs=1e-4)
        assert self.mean() == 0

    @given(st.dictionaries(st.sampled_from(AXES), VALUE, min_size=1), st.sampled_from(AXES), VALUE)
    def test_more_of_an_axis_never_costs(self, axes: dict[str, float], name: str, more: float) -> None:
        assert self.mean(**axes | {name: max(more, axes.get(name, 0))}) >= self.mean(**axes) - 1e-12

    def test_an_axis_that_does_not_apply_is_left_out(self) -> None:
        values = {name: np.array([0.0 if name == "known_causes" else 0.6]) for name in AXES}
        assert power_mean(values, self.score, frozenset({"known_causes"})) == pytest.approx([0.6])

    @pytest.mark.parametrize(("error", "expected"), [(0.1, 0.0), (0.2, 0.0), (0.035, 1.0), (0.01, 1.0), (0.0675, 0.5)])
    def test_skill(self, error: float, expected: float) -> None:
        found = credited_skill(np.array([[error]]), np.array([[0.1]]), np.array([[0.035]]))
        assert found == pytest.approx([expected])
        both = credited_skill(np.array([[error, 0.1]]), np.array([[0.1, 0.1]]), np.array([[0.035, 0.035]]))
        assert both == pytest.approx([expected / 2])

    def test_a_constant_that_is_better_than_the_reference(self) -> None:
        reached = credited_skill(np.array([[0.01], [0.03]]), np.array([[0.02], [0.02]]), np.array([[0.02], [0.02]]))
        assert reached.tolist() == [1, 0]


@pytest.mark.parametrize("scale", [1e-300, 1e-90, 1e-8, 1e8, 1e90, 1e300])
def test_correlation_does_not_depend_on_how_large_weights_are(scale: float) -> None:
    rng = np.random.default_rng(5)
    first, second = rng.random(144), rng.random(144)
    expected = np.corrcoef(first, second)[0, 1]
    assert correlation(first * scale, second) == pytest.approx(expected)
    assert correlation(first * scale, second * scale) == pytest.approx(expected)
    assert correlation(np.full(144, 0.1) * scale, second) == 0


def test_a_clip_never_holds_up_more_than_wholly() -> None:
    """A map better than all others has 1.5, and so would more than make up for a poor text."""
    best = {"faithfulness_space": [[1, -1]], "faithfulness_time": [[1, -1]], "cue_claims": [[1.25]], "text": [[1]]}
    nothing = {field.name: np.zeros((1, 1)) for field in fields(AxisSums)}
    table = AxisSums(**nothing | {name: np.array(values, dtype=np.float64) for name, values in best.items()})
    assert label_free(table) == pytest.approx(np.array([[1.5, 1.5, 1.25, 1]]))
    assert held_up(table, ExplanationScore().weights) == pytest.approx([1])


@pytest.mark.parametrize("bin_s", [1e-320, 1e-9, 1e300])
def test_bins_of_any_length_are_compared_with_what_people_pointed_at(bin_s: float) -> None:
    told = replace(NO_EXPLANATION, time=np.array([1.0, 2.0, 3.0]), bin_s=bin_s)
    values, _ = clip_plausibility(["c1"], [told], {"c1": [Observation(0.5, 2.0, None)]})
    assert np.isfinite(values).all()
