"""Area under the curve and map measures: worked numbers, some from Quantus; agreement with scikit-learn and SciPy."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from score.diagnostics import centre_prior, entropy, gini
from score.order import (
    HIGHEST_YARDSTICK,
    Region,
    above_chance_auc,
    agreement,
    auc,
    average_ranks,
    clip_skill,
    correlation,
    order_skill,
    order_sums,
    yardstick,
)

Array = NDArray[np.float64]
# Few levels, so that ties are common.
PAIRS = st.integers(2, 20).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n, max_size=n)
    )
)


@given(pair=PAIRS)
def test_agreement_with_scikit_learn_and_scipy(pair: tuple[list[int], list[bool]]) -> None:
    scores, positive = np.array(pair[0], float), np.array(pair[1])
    assert average_ranks(scores) == pytest.approx(rankdata(scores))
    if positive.any() and not positive.all():
        assert auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-9)


@given(pair=PAIRS, power=st.sampled_from([0.5, 2.0, 3.0]))
def test_ranks_ignore_a_monotone_change(pair: tuple[list[int], list[bool]], power: float) -> None:
    scores, positive = np.array(pair[0], float), np.array(pair[1])
    if positive.any() and not positive.all():
        assert auc(scores**power, positive) == auc(scores, positive)
        assert auc(7 * scores + 3, positive) == auc(scores, positive)


def test_worked_numbers() -> None:
    # scores 3 2 2 1, hits at the first and one of the tied: pairs 2 x 2, won 1 + .5 + 1 + 1
    scores, positive = np.array([3.0, 2, 2, 1]), np.array([True, True, False, False])
    assert auc(scores, positive) == pytest.approx(3.5 / 4)
    assert above_chance_auc(scores, positive) == pytest.approx(0.75)
    assert correlation(np.ones(3), np.arange(3.0)) == 0


def test_map_measures_by_hand() -> None:
    one, uniform = np.zeros((2, 4)), np.ones((2, 4))
    one[1, 2] = 3
    assert gini(uniform) == pytest.approx(0)
    assert gini(one) == pytest.approx(7 / 8)  # (n - 1) / n
    assert entropy(uniform) == pytest.approx(np.log(8))
    assert entropy(one) == 0
    centre = centre_prior(9, 16)
    assert centre.argmax() in (4 * 16 + 7, 4 * 16 + 8)
    assert centre == pytest.approx(centre[::-1, ::-1])


def test_numbers_of_quantus() -> None:
    """Localisation, sparseness and complexity of six maps without ties, as Quantus 0.6.0 gives them."""
    theirs = {  # AUC, Sparseness and Complexity
        2: (0.350806, 0.197431, 4.900426),
        3: (0.419355, 0.331018, 4.780075),
        7: (0.548387, 0.426573, 4.656990),
        11: (0.552419, 0.498246, 4.541342),
        13: (0.530242, 0.553990, 4.434815),
        17: (0.578629, 0.598585, 4.337004),
    }
    for number, (factor, expected) in enumerate(theirs.items()):
        values = (np.arange(1, 145) * factor % 145 / 145) ** ((number + 1) / 2)
        mask = np.zeros((9, 16), dtype=bool)
        mask[number : number + 4, 2 * number : 2 * number + 5] = True
        assert (auc(values, mask.ravel()), gini(values), entropy(values)) == pytest.approx(expected, abs=1e-6)


Clip = tuple[Region, ...]
KINDS = ("eyes", "hand", "mouth", "quiet", "words")


SOME_KINDS = [kinds for count in range(2, 6) for kinds in combinations(KINDS, count)]


def region(kind: str, effect: float, weight: float) -> Region:
    return Region(kind, effect, weight, still=kind == "quiet")


def clip_of(kinds: Sequence[str]) -> st.SearchStrategy[Clip]:
    # Few levels, so that ties are common; one number for both, since every draw takes long.
    levels = st.lists(st.integers(0, 53), min_size=len(kinds), max_size=len(kinds))
    return levels.map(
        lambda both: tuple(region(kind, *divmod(level, 6)) for kind, level in zip(kinds, both, strict=True))
    )


CLIPS = {kinds: clip_of(kinds) for kinds in SOME_KINDS}
RUNS = st.lists(st.sampled_from(SOME_KINDS).flatmap(CLIPS.__getitem__), min_size=1, max_size=5)
WHOLE_RUNS = st.integers(2, 5).flatmap(lambda count: st.lists(CLIPS[KINDS[:count]], min_size=1, max_size=5))
"""Every clip has every kind."""


def sums_of(clips: Sequence[Sequence[Region]], failed: Sequence[bool] | None = None) -> Array:
    return order_sums(clips, np.zeros(len(clips)), None if failed is None else np.array(failed))


def pooled(clips: Sequence[Sequence[Region]], failed: Sequence[bool] | None = None) -> Array:
    return np.asarray(sums_of(clips, failed).sum(axis=0, keepdims=True))


def marked(clips: Sequence[Clip], weight: object) -> list[Clip]:
    """Mark every region by a function of it."""
    assert callable(weight)
    return [tuple(replace(one, weight=float(weight(one))) for one in clip) for clip in clips]


def gini_correlation(clips: Sequence[Sequence[Region]]) -> float:
    return float(agreement(pooled(clips))[0])


def rule(clips: Sequence[Sequence[Region]], failed: Sequence[bool] | None = None) -> float:
    return float(yardstick(pooled(clips, failed))[0])


def skill(clips: Sequence[Sequence[Region]], failed: Sequence[bool] | None = None) -> float:
    return float(order_skill(pooled(clips, failed))[0])


def best_order(clips: Sequence[Clip]) -> float:
    """Search all orders of the kinds for the one that agrees best with the effects of all clips."""
    kinds = sorted({one.kind for clip in clips for one in clip})
    return max(
        gini_correlation(marked(clips, lambda one, order=order: order.index(one.kind))) for order in permutations(kinds)
    )


def moving(clips: Sequence[Clip]) -> bool:
    return any(len({one.effect for one in clip}) > 1 for clip in clips)


@given(clips=RUNS)
def test_the_exact_order_is_1_and_the_reverse_is_minus_1(clips: list[Clip]) -> None:
    clips = [clip for clip in clips if moving([clip])]
    exact, reverse = (marked(clips, lambda one, sign=sign: 9 + sign * one.effect) for sign in (1, -1))
    expected = 1.0 if clips else 0.0
    assert (gini_correlation(exact), skill(exact)) == pytest.approx((expected, expected))
    assert (gini_correlation(reverse), skill(reverse)) == pytest.approx((-expected, -expected))


@given(clips=RUNS)
def test_agreement_lies_between_minus_1_and_1_and_the_result_too(clips: list[Clip]) -> None:
    assert -1 - 1e-12 <= gini_correlation(clips) <= 1 + 1e-12
    assert -1 - 1e-12 <= skill(clips) <= 1 + 1e-12
    assert (np.abs(clip_skill(sums_of(clips))) <= 1).all()


@given(clips=RUNS, seed=st.integers(0, 99))
def test_no_mark_moves_the_yardstick(clips: list[Clip], seed: int) -> None:
    """Neither other marks nor larger ones, equal ones, or none, whether of all clips or of some."""
    rng = np.random.default_rng(seed)
    ways = [
        lambda _: rng.random(),
        lambda one: 1000 * one.weight,
        lambda one: 1 + 1e-9 * one.weight,
        lambda _: 0.0,
        lambda one: one.weight * rng.integers(0, 2),
    ]
    assert [rule(marked(clips, way)) for way in ways] == [rule(clips)] * len(ways)


@given(clips=WHOLE_RUNS)
def test_the_yardstick_is_the_best_of_all_orders(clips: list[Clip]) -> None:
    assert rule(clips) == pytest.approx(min(best_order(clips), HIGHEST_YARDSTICK))


@given(clips=RUNS)
def test_no_order_beats_the_yardstick_where_clips_lack_kinds(clips: list[Clip]) -> None:
    assert rule(clips) >= min(best_order(clips), HIGHEST_YARDSTICK) - 1e-12


def test_several_regions_of_a_kind_are_in_no_order_of_kinds() -> None:
    clip = [region("mouth", 4, 2), region("mouth", 1, 1)]
    assert gini_correlation([clip]) == 1
    assert rule([clip]) == 0


@given(clips=RUNS)
def test_a_clip_without_effects_counts_as_an_average_clip_without_an_order(clips: list[Clip]) -> None:
    clips = [clip for clip in clips if moving([clip])]
    for nothing in ((), clips[0][:1] if clips else ()):
        more = order_sums([*clips, nothing], np.zeros(len(clips) + 1), due=True).sum(axis=0, keepdims=True)
        assert float(yardstick(more)[0]) == rule(clips)
        assert float(agreement(more)[0]) == pytest.approx(gini_correlation(clips) * len(clips) / (len(clips) + 1))


@given(clips=RUNS, seed=st.integers(0, 99))
def test_the_order_of_clips_and_of_regions_does_not_matter(clips: list[Clip], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = [tuple(clips[at][one] for one in rng.permutation(len(clips[at]))) for at in rng.permutation(len(clips))]
    assert skill(shuffled) == pytest.approx(skill(clips))
    assert rule(shuffled) == pytest.approx(rule(clips))


@given(clip=st.integers(2, 5).flatmap(lambda count: CLIPS[KINDS[:count]]))
def test_ties_are_the_mean_of_the_orders_that_break_them(clip: Clip) -> None:
    orders = [
        gini_correlation([tuple(replace(one, weight=at) for at, one in enumerate(order))])
        for order in permutations(clip)
        if all(before.weight <= after.weight for before, after in pairwise(order))
    ]
    assert gini_correlation([clip]) == pytest.approx(np.mean(orders))


@given(clip=st.integers(2, 5).flatmap(lambda count: CLIPS[KINDS[:count]]))
def test_a_random_order_is_at_chance(clip: Clip) -> None:
    orders = permutations(clip)
    found = [gini_correlation([tuple(replace(one, weight=at) for at, one in enumerate(order))]) for order in orders]
    assert np.mean(found) == pytest.approx(0, abs=1e-12)


@given(clips=RUNS, power=st.sampled_from([0.5, 2.0, 3.0]), factor=st.sampled_from([1e-6, 1.0, 1e6]))
def test_only_the_order_of_marks_counts(clips: list[Clip], power: float, factor: float) -> None:
    assert skill(marked(clips, lambda one: factor * one.weight**power)) == pytest.approx(skill(clips))


@given(clips=RUNS, factor=st.sampled_from([0.01, 0.5, 4.0]))
def test_a_clip_weighs_as_much_as_its_effects(clips: list[Clip], factor: float) -> None:
    smaller = [tuple(replace(one, effect=factor * one.effect) for one in clips[0]), *clips[1:]]
    before, after = (order_sums(run, np.zeros(len(run))) for run in (clips, smaller))
    assert after[0] == pytest.approx(factor * before[0])
    assert after[1:] == pytest.approx(before[1:])


@given(clips=RUNS, data=st.data())
def test_failing_never_pays(clips: list[Clip], data: st.DataObject) -> None:
    """Neither where the marks are wrong, nor where they are right, nor by what it does to the yardstick."""
    failed = data.draw(st.lists(st.booleans(), min_size=len(clips), max_size=len(clips)))
    sooner = data.draw(st.lists(st.booleans(), min_size=len(clips), max_size=len(clips)))
    both = [one or other for one, other in zip(failed, sooner, strict=True)]
    for before, after in ((None, failed), (failed, both)):
        assert skill(clips, after) <= skill(clips, before) + 1e-9
        assert rule(clips, after) >= rule(clips, before) - 1e-9


@given(clips=RUNS)
def test_failing_without_any_answer_does_not_pay_either(clips: list[Clip]) -> None:
    """Its effects are unknown, but another clip has effects as large."""
    clips = [*clips, max(clips, key=lambda clip: pooled([clip])[0, 1])]
    for gone in range(len(clips) - 1):
        failed = [at == gone for at in range(len(clips))]
        assert skill([() if at == gone else clip for at, clip in enumerate(clips)], failed) <= skill(clips) + 1e-9


def test_a_yardstick_cannot_be_lowered_by_failing_on_what_is_always_so() -> None:
    # Without the large clip no order is better than another, and its marks were wrong anyhow.
    small = [(region("eyes", a, a), region("mouth", 1 - a, 1 - a)) for a in (0, 1) * 15]
    clips = [(region("eyes", 10, 0), region("mouth", 0, 1)), *small]
    failed = [True] + [False] * len(small)
    assert (gini_correlation(clips), rule(clips)) == (0.5, 0.25)
    assert rule(clips, failed) == 0.25
    assert skill(clips, failed) == pytest.approx(skill(clips))


def test_differences_that_noise_hides_are_due_but_not_earned() -> None:
    clip = [region("eyes", 0.30, 3), region("hand", 0.295, 1), region("mouth", 0.0, 2)]
    everything, large = (order_sums([clip], np.array([least])) for least in (0.0, 0.01))
    assert everything[0, :2] == pytest.approx([0.3 + 0.005 - 0.295, 0.6])
    assert large[0, :3] == pytest.approx([0.3 - 0.295, 0.6, 0.595])
    assert order_sums([clip], np.array([0.5]))[0].tolist() == pytest.approx([0, 0.6] + [0] * 5)
    measured = [region("eyes", 0.1, 1), region("mouth", 0.0, 0)]
    for effect, due in ((0.3, 0.3), (0.05, 0.1)):  # as much as it moved, and no less than an average clip
        hidden = [region("eyes", effect, 1), region("mouth", 0.0, 2)]
        assert order_sums([measured, hidden], np.array([0, 0.5]), due=True)[:, 1] == pytest.approx([0.1, due])


class TestOtherLibraries:
    @given(effects=st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True), seed=st.integers(0, 99))
    def test_agrees_with_a_covariance_of_ranks(self, effects: list[int], seed: int) -> None:
        """Schechtman and Yitzhaki: cov(e, rank of w) / cov(e, rank of e)."""
        e, w = np.array(effects, float), np.random.default_rng(seed).random(len(effects))
        expected = np.cov(e, rankdata(w))[0, 1] / np.cov(e, rankdata(e))[0, 1]
        clip = [Region(f"kind{at}", *pair) for at, pair in enumerate(zip(e, w, strict=True))]
        assert gini_correlation([clip]) == pytest.approx(expected)

    @given(
        hits=st.lists(st.booleans(), min_size=2, max_size=8).filter(lambda hits: len(set(hits)) == 2),
        seed=st.integers(0, 99),
    )
    def test_of_two_levels_it_is_the_area_under_the_curve(self, hits: list[bool], seed: int) -> None:
        w = np.random.default_rng(seed).integers(0, 4, len(hits)).astype(float)
        clip = [Region(f"kind{at}", *pair) for at, pair in enumerate(zip(map(float, hits), w, strict=True))]
        assert gini_correlation([clip]) == pytest.approx(2 * roc_auc_score(hits, w) - 1)


class TestWorkedNumbers:
    first = (region("mouth", 0.3, 3), region("eyes", 0.1, 1), region("quiet", 0.0, 2))
    second = (region("mouth", 0.1, 2), region("eyes", 0.2, 3), region("quiet", 0.0, 1))

    def test_two_clips(self) -> None:
        # Pairs with the quiet second weigh a quarter. The first has .2 and .3/4 right, .1/4 wrong: .25 of .3.
        # The second has .1, .1/4 and .2/4 right: .175 of .175.
        found = sums_of([self.first, self.second])
        assert found[:, :4] == pytest.approx(np.array([[0.25, 0.3, 0.3, 0], [0.175, 0.175, 0.175, 0]]))
        # Pairs of kinds in both clips: eyes - mouth -.2 + .1, eyes - quiet .025 + .05, mouth - quiet .075 + .025.
        assert found[:, 4:].sum(axis=0) == pytest.approx([-0.1, 0.075, 0.1])
        g, r = 0.425 / 0.475, 0.275 / 0.475
        assert (gini_correlation([self.first, self.second]), rule([self.first, self.second])) == pytest.approx((g, r))
        assert skill([self.first, self.second]) == pytest.approx(0.9 * g + 0.1 * (g - r) / (1 - r))
        # Of each clip, with the yardstick of both: 5/6 and 1.
        own = np.array([5 / 6, 1])
        assert clip_skill(found) == pytest.approx(0.9 * own + 0.1 * (own - r) / (1 - r))

    def test_a_failed_clip(self) -> None:
        # The second clip counts -.3 of .3, as much as the largest, and as always so.
        found = pooled([self.first, self.second], [False, True])
        assert found[0, :4] == pytest.approx([0.25 - 0.3, 0.6, 0.3, 0.3])
        assert yardstick(found) == HIGHEST_YARDSTICK  # .3 + .3 of .6
        assert order_skill(found) == pytest.approx([-0.9 * 0.05 / 0.6 - 0.1])

    def test_a_run_in_which_everything_failed(self) -> None:
        assert skill([self.first, self.second], [True, True]) == -1
        assert skill([(), ()], [True, True]) == -1

    def test_nothing_at_all(self) -> None:
        assert skill([]) == skill([(), ()]) == 0

    @pytest.mark.parametrize(
        ("own", "usual", "expected"),
        [
            (1, 0, 1),
            (1, 0.5, 1),
            (1, 1, 1),  # the yardstick is cut to .9
            (0.5, 0, 0.5),
            (0.5, 0.5, 0.45),  # the best single order for all clips
            (0.8, 0.5, 0.72 + 0.06),
            (0.4, 0.8, 0.36 - 0.05),
            (0, 0, 0),
            (0, 0.5, -0.1),
            (-0.5, 0.2, -0.55),
            (-1, 0.5, -1),
        ],
    )
    def test_agreement_and_yardstick(self, own: float, usual: float, expected: float) -> None:
        assert order_skill(np.array([[own, 1, 1, 0, usual]])) == pytest.approx([expected])
        assert order_skill(np.array([[3 * own, 3, 2, 0, 2 * usual, 0]])) == pytest.approx([expected])


class TestRuns:
    """A model that mostly looks at the mouth, in 60 clips, explained in better and worse ways."""

    rng = np.random.default_rng(3)
    effects = rng.exponential(size=(60, 4)) * [1.2, 1.0, 0.9, 0.8]
    kinds = ("mouth", "eyes", "hand", "words")

    def value(self, marks: Array) -> float:
        pairs = zip(self.effects, np.broadcast_to(marks, self.effects.shape), strict=True)
        return skill([tuple(map(region, self.kinds, e, w)) for e, w in pairs])

    def test_exact_beats_noisy_beats_usual_beats_random_beats_reversed(self) -> None:
        noise = self.rng.exponential(size=self.effects.shape)
        noisy = [self.value(self.effects + size * noise) for size in (0, 0.25, 0.5, 1)]
        assert noisy == sorted(noisy, reverse=True)
        usual = self.value(self.effects.mean(axis=0))
        assert noisy[-1] > usual > 0
        by_chance = [self.value(self.rng.random(self.effects.shape)) for _ in range(20)]
        assert usual > max(by_chance)
        assert np.mean(by_chance) < 0 < usual < 0.2
        assert self.value(-self.effects) == -1

    def test_the_usual_order_on_some_clips_costs(self) -> None:
        usual = np.broadcast_to(self.effects.mean(axis=0), self.effects.shape)
        shares = [
            self.value(np.where(np.arange(60)[:, None] < count, usual, self.effects)) for count in (0, 20, 40, 60)
        ]
        assert shares == sorted(shares, reverse=True)

    def test_marks_that_say_nothing_are_worth_nothing(self) -> None:
        assert self.value(np.ones(4)) < 0
