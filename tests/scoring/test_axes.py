"""The axes but for the order of effects: measured effects, claims, known causes, texts and the total, by hand."""

import doctest
import importlib
import pkgutil
from dataclasses import fields, replace
from types import FunctionType, ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import score
from score.axes.cue_claims import claim_sums
from score.axes.effects import Effects, evaluated_targets, importance, measure_effects
from score.axes.faithfulness import faithfulness, marks, regions
from score.axes.known_causes import REST, cause_sums
from score.axes.plausibility import clip_plausibility
from score.axes.registry import LABEL_FREE, REGISTRY
from score.axes.table import AxisSums, credited_skill, power_mean
from score.axes.text import distance, specificity
from score.columns import columns
from score.evaluate import held_up
from score.metrics import METRICS
from score.order import agreement, correlation, order_skill, pass_difference, repeated_difference, resolution
from score.read.answers import Explanation, ProbeCall
from score.read.known import ClipCauses, Observation
from score.settings import AXES, ExplanationScore, read_settings
from score.text.reading import join_claims
from tests import ROOT
from tests.scoring.calls import VOCABULARY, call, effects_of, unit

Array = NDArray[np.float64]
VALUE = st.floats(0, 1).map(lambda value: round(value, 4))


def told(space: object = None, time: object = None) -> Explanation:
    """An explanation with this map of 2 x 2 cells and this timeline."""
    return replace(
        Explanation(),
        space=None if space is None else np.array(space, float).reshape(2, 2),
        time=None if time is None else np.array(time, float),
    )


class TestEffects:
    def test_a_joint_effect_by_hand(self) -> None:
        """Half of it is the main target's; targets count as shares of their ranges."""
        assert importance(6, 5).tolist() == pytest.approx([0.1] * 5 + [0.5])
        assert importance(1, 0).tolist() == [1]

        def answered(kind: str, *answer: float) -> ProbeCall:
            return replace(unit(kind, 0.0, (0,), (1,)) if kind == "mouth" else call(kind, 0.0), prediction=answer)

        mouth_again = replace(answered("mouth", 2.0, 0.6, 31.0), again=True)
        calls = [[answered("original", 3.0, 0.5, 20.0), answered("mouth", 2.0, 0.6, 30.0), mouth_again]]
        scale = np.array([1.0, 0.0, 0.0]), np.array([4.0, 1.0, 100.0])
        effects = measure_effects(calls, scale, np.zeros(1, np.int64), 2, VOCABULARY)
        (mouth,) = effects.units[0]
        assert mouth.effect == pytest.approx(0.25 * 0.25 + 0.25 * 0.1 + 0.5 * 0.1)
        assert (mouth.kind, mouth.parts, mouth.cells, mouth.seconds) == ("mouth", ("mouth",), (0,), (1,))
        # Twice the difference of .01 when asked again, for the main target alone.
        assert effects.joint_epsilon == pytest.approx(0.5 * 5e-4 + 0.5 * 0.02)

    def test_units_have_a_place_a_time_or_both(self) -> None:
        words, things, hand = unit("words", 0.4, (), (1,)), unit("things", 0.4, (1, 2)), unit("hand", 0.4, (0,), (0,))
        effects = effects_of([[call("original", 0.5), words, things, hand, unit("quiet", 0.5, (), (2,))]])
        assert [one.kind for one in effects.of(0, "space")] == ["things", "hand"]
        assert [one.kind for one in effects.of(0, "time")] == ["words", "hand", "quiet"]
        assert {one.kind for one in effects.units[0] if one.still} == {"things", "quiet"}

    def test_what_has_no_valid_answer(self) -> None:
        whole = [call("original", 0.5), unit("mouth", 0.4, (0,)), call("cue", 0.3, "cue0")]
        rows = [
            whole,
            [whole[0], unit("mouth", None, (0,)), whole[2]],
            [*whole[:2], call("cue", None, "cue0")],
            [call("original", None), *whole[1:]],
            [*whole, call("original", None, again=True)],
            [*whole, unit("mouth", None, (0,), again=True)],
            [*whole, call("cue", None, "cue0", again=True)],
            [],
        ]
        effects = effects_of(rows)
        assert effects.failed.tolist() == [False, True, False, True, True, True, False, False]
        assert effects.edit_failed.tolist() == [False, False, True, True, True, False, True, False]
        assert [len(units) for units in effects.units] == [1] * 7 + [0]
        assert (effects.asked, effects.answered) == (21, 18)  # of the plan

    def test_an_effect_of_an_edit_has_a_sign(self) -> None:
        effects = effects_of([[unit("mouth", 0.4, (0,)), call("original", 0.5), call("cue", 0.55, "cue1")]])
        assert effects.units[0][0].effect == pytest.approx(0.1)
        assert effects.edited[0, 1] == pytest.approx(-0.05)
        assert np.isnan(np.delete(effects.edited[0], 1)).all()


class TestNoise:
    copy = call("cue", 0.4, "cue0")

    def test_passes_by_hand(self) -> None:
        first = np.array([[0.4, 0.5], [0.6, 0.5], [np.nan, np.nan]])
        again = np.array([[0.41, 0.5], [0.6, np.nan], [0.3, 0.3]])
        assert pass_difference(first, again) == pytest.approx([0.005, 0])
        assert pass_difference(first, np.full((3, 2), np.nan)).tolist() == [0, 0]

    def test_the_smallest_effect_by_hand(self) -> None:
        assert resolution(None, 2).tolist() == [5e-4, 5e-4]
        assert resolution(np.array([0.01, 0]), 2) == pytest.approx([0.02, 5e-4])

    def test_the_largest_difference_by_hand(self) -> None:
        again = [call("cue", 0.43, "cue0", again=True), unit("mouth", 0.3, (1,), again=True)]
        row = [call("original", 0.5), self.copy, unit("mouth", 0.2, (1,)), *again]
        assert repeated_difference([row, row[:3]], np.array([2.0])) == pytest.approx([0.05])
        assert repeated_difference([row[:3]], np.ones(1)) is None
        unanswered = [call("cue", None, "cue0"), call("cue", 0.4, "cue0", again=True)]
        assert repeated_difference([unanswered, unanswered[::-1]], np.ones(1)) is None

    def test_smaller_effects_do_not_count(self) -> None:
        rows = [[call("original", 0.49), self.copy, call("cue", again, "cue0", again=True)] for again in (0.4, 0.42)]
        effects = effects_of(rows)
        assert effects.epsilon == pytest.approx([0.04, 0.04])
        assert effects.joint_epsilon == pytest.approx(0.04)

    def test_an_effect_of_memory_is_none(self) -> None:
        honest = [call("original", 0.5), self.copy, unit("mouth", 0.4, (0,)), unit("eyes", 0.5, (1,))]
        remembered = [*honest, call("cue", 0.5, "cue0", again=True)]
        claims = np.zeros((1, 1, 8))
        claims[0, 0, 0] = 1
        for row, expected in ((honest, 1), (remembered, 0)):
            effects = effects_of([row])
            assert judged(claims, effects) == pytest.approx(expected)
            assert agreement(faithfulness([told([1, 0, 0, 0])], effects, "space")) == pytest.approx([expected])


class TestFaithfulness:
    row = (
        call("original", 0.5),
        unit("mouth", 0.4, (0, 1), (0,)),
        unit("eyes", 0.52, (2,), (1,)),
        unit("things", 0.5, (3,)),
        unit("words", 0.2, (), (2,)),
    )

    def test_marks_by_hand(self) -> None:
        effects = effects_of([list(self.row)])
        explanation = told([1, 3, 4, 0], [0.5, 0, 7])
        assert marks(explanation, "space", effects.of(0, "space")) == pytest.approx(np.array([2, 4, 0]))
        assert marks(explanation, "time", effects.of(0, "time")) == pytest.approx(np.array([0.5, 0, 7]))
        assert marks(told(), "space", effects.of(0, "space")) is None
        assert marks(told(time=[1, 2]), "time", effects.of(0, "time")) is None  # another length

    def test_worked_numbers(self) -> None:
        # Space: effects .1, .02 and 0 (still), marks 2, 4, 0: wrong by .08, right by .1/4 and .02/4.
        # Time: effects .1, .02 and .3, marks .5, 0, 7: all right.
        effects = effects_of([list(self.row)])
        explanation = told([1, 3, 4, 0], [0.5, 0, 7])
        space, time = (faithfulness([explanation], effects, kind) for kind in ("space", "time"))
        assert space[0, :3] == pytest.approx([0.03 - 0.08, 0.11, 0.11])
        assert time[0, :3] == pytest.approx([0.08 + 0.2 + 0.28] * 3)

    def test_a_clip_without_a_map_has_no_order_and_its_effects_count_in_the_yardstick(self) -> None:
        effects = effects_of([list(self.row)] * 2)
        with_one, without = faithfulness([told([3, 3, 2, 0]), Explanation()], effects, "space")
        assert without[0] == 0
        assert without[1:] == pytest.approx(with_one[1:])
        assert [one.weight for one in regions(Explanation(), effects, 1, "space")] == [0, 0, 0]

    def test_a_clip_that_was_not_reached_is_an_average_clip_without_an_order(self) -> None:
        found = faithfulness([told([3, 3, 2, 0])] * 2, effects_of([list(self.row), []]), "space")
        assert found[1, :4] == pytest.approx([0, found[0, 1], 0, 0])

    @pytest.mark.parametrize("place", range(4))
    def test_failing_never_pays(self, place: int) -> None:
        """Not even on exactly the call that speaks against the map."""
        rows = [list(self.row), list(self.row)]
        rows[1][place] = replace(self.row[place], prediction=None)
        for weights in ([3, 3, 2, 0], [0, 0, 2, 3], [1, 1, 1, 2]):
            before = faithfulness([told(weights)] * 2, effects_of([list(self.row)] * 2), "space")
            after = faithfulness([told(weights)] * 2, effects_of(rows), "space")
            assert after[1, :4] == pytest.approx([-after[1, 1], after[1, 1], 0, after[1, 1]])
            assert pooled(after) <= pooled(before) + 1e-12


def pooled(sums: Array) -> float:
    return float(order_skill(sums.sum(axis=0, keepdims=True))[0])


def judged(claims: Array, effects: Effects) -> float:
    """What the axis is before it is cut to 0."""
    value, weight = claim_sums(claims, effects, np.zeros(len(claims), dtype=np.int64)).sum(axis=0)
    return float(value / weight) if weight else 0.0


class TestClaims:
    """150 clips, 8 cues; two causes and one other cue are edited."""

    rng = np.random.default_rng(4)

    def run(self, claims: Array, share: float = 1.0) -> float:
        calls = []
        for clip, row in enumerate(self.truth):
            order = np.argsort(-np.abs(row))
            edits = [*order[:2], order[-1 - clip % 3]]
            calls.append(
                [call("original", 0.5), *(call("cue", 0.5 - share * 0.3 * row[k], VOCABULARY[k]) for k in edits)]
            )
        return judged(claims[:, None, :], effects_of(calls))

    @property
    def truth(self) -> Array:
        rng = np.random.default_rng(8)
        return np.asarray(np.clip(rng.normal(size=(150, 8)) * rng.choice([0.2, 0.5], (150, 8)), -1, 1))

    def test_levels(self) -> None:
        truth = self.truth
        assert self.run(truth) > 0.95
        assert 0.6 < self.run(np.sign(truth)) < 0.8  # signs have no size
        assert abs(self.run(self.rng.normal(size=truth.shape))) < 0.15
        assert abs(self.run(np.abs(truth) * self.rng.choice([-1, 1], truth.shape))) < 0.2
        assert self.run(-truth) == pytest.approx(-0.5, abs=1e-3)  # no factor fits, so a size counts as 0
        assert self.run(np.zeros_like(truth)) == 0
        assert abs(self.run(np.tile(truth[0], (150, 1)))) < 0.15

    def test_noise_costs_at_every_step(self) -> None:
        noise = self.rng.normal(size=self.truth.shape) * self.truth.std()
        scores = [self.run(self.truth + amount * noise) for amount in (0, 0.25, 0.5, 1, 2)]
        assert scores == sorted(scores, reverse=True)

    def test_the_size_of_claims_and_effects_is_free(self) -> None:
        assert self.run(self.truth / 5) == pytest.approx(self.run(self.truth))
        assert self.run(self.truth, share=0.5) == pytest.approx(self.run(self.truth), abs=0.02)

    def test_worked_numbers(self) -> None:
        # Effects .1 and -.05 of cue 0 and 1. The first claims 1 and 0: cos = .1 / sqrt(.0125); the second 0 and 1.
        row = [call("original", 0.5), call("cue", 0.4, "cue0"), call("cue", 0.55, "cue1")]
        claims = np.zeros((2, 1, 8))
        claims[0, 0, 0] = claims[1, 0, 1] = 1
        a, b = 0.1 / 0.0125**0.5, -0.05 / 0.0125**0.5
        target = np.zeros(2, dtype=np.int64)
        value, weight = claim_sums(claims, effects_of([row, row]), target).T
        assert weight == pytest.approx([0.15, 0.15])
        # Sizes: the best factor is (.1 - .05) / 2 = .025; off by .075 + .05, and .1 + .075, of .15.
        assert value / weight == pytest.approx([(a + 1 - 0.125 / 0.15) / 2, (b + 1 - 0.175 / 0.15) / 2])
        # Alone the factor is .1: the other effect is missed.
        assert judged(claims[:1], effects_of([row])) == pytest.approx((a + 1 - 0.05 / 0.15) / 2)

    def test_a_size_that_is_far_off_is_no_worse_than_nothing_right(self) -> None:
        """Both clips claim 1; the effects are .01 and .4, the best factor .205: off by 19 times the first effect."""
        rows = [[call("original", 0.5), call("cue", 0.5 - effect, "cue0")] for effect in (0.01, 0.4)]
        claims = np.zeros((2, 1, 8))
        claims[:, 0, 0] = 1
        found = claim_sums(claims, effects_of(rows), np.zeros(2, dtype=np.int64))
        assert found == pytest.approx(np.array([[0.0, 0.01], [0.4 * (1 + 1 - 0.195 / 0.4) / 2, 0.4]]))

    def test_what_failed_and_what_was_not_reached(self) -> None:
        # Weights .1 and .3. Failed: -1, as heavy as the heaviest. Without an edit: 0, an average weight.
        rows = [[call("original", 0.5), call("cue", 0.5 - effect, "cue0")] for effect in (0.1, 0.3)]
        rows += [[call("original", 0.5), call("cue", None, "cue0")], [call("original", 0.5)], []]
        claims = np.zeros((5, 1, 8))
        claims[:, 0, 0] = 0.1
        found = claim_sums(claims, effects_of(rows), np.zeros(5, dtype=np.int64))
        assert found[2:] == pytest.approx(np.array([[-0.3, 0.3], [0, 0.2], [0, 0.2]]))

    @given(
        effects=st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=4),
        claims=st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=3),
    )
    def test_failing_is_no_better_than_silence(
        self, effects: list[tuple[float, float]], claims: list[tuple[float, float]]
    ) -> None:
        rows = [
            [call("original", 0.5), *(call("cue", one, f"cue{cue}") for cue, one in enumerate(row))] for row in effects
        ]
        said = np.zeros((len(rows), 1, 8))
        for clip, row in enumerate(claims[: len(rows) - 1], 1):
            said[clip, 0, :2] = row
        failed = [[rows[0][0], rows[0][1], replace(rows[0][2], prediction=None)], *rows[1:]]
        assert judged(said, effects_of(failed)) <= judged(said, effects_of(rows)) + 1e-9


class TestKnownCauses:
    """Two clips of 1 x 4 cells and three seconds; cues a and b have a place and a time, c has neither."""

    grid = (1, 4)
    contributions = np.array([[0.3, -0.1, 0.0], [0.1, 0.1, 0.2]])
    shares = importance(2, 0)

    def sums(self, claims: object, space: object = None, time: object = None, shape: tuple[int, int] = grid) -> Array:
        """Addends of the parts of one explanation, without the pairs."""
        cause = ClipCauses(
            contributions=self.contributions,
            space={"a": np.array([1, 1, 0, 0], dtype=bool), "b": np.array([0, 0, 1, 0], dtype=bool)},
            time={"a": np.array([1, 0, 0], dtype=bool), "b": np.array([0, 1, 0], dtype=bool)},
        )
        explanation = replace(
            Explanation(),
            space=None if space is None else np.array(space, float).reshape(shape),
            time=None if time is None else np.array(time, float),
        )
        own = np.array([[claims, [0.0] * 3]], float)
        found = cause_sums([explanation], own, [cause], self.grid, np.zeros(1, np.int64), self.shares, ("a", "b", "c"))
        return np.concatenate([found[part][:, :2] for part in ("cue", "space", "time")])

    def test_worked_numbers(self) -> None:
        # Claims: contributions .3, -.1, 0, differences .4, .3 and .1; those claimed .2, 0, 0 leave the last one a tie.
        # Places: joint sizes .2 and .1 against the rest, which is still: .1 and .2/4 right, .1/4 wrong.
        # Seconds: .1 wrong, .2/4 wrong, .1/4 right.
        found = self.sums([0.2, 0, 0], [4, 2, 1, 2], [0, 3, 1])
        assert found == pytest.approx(np.array([[0.7, 0.8], [0.15 - 0.025, 0.175], [0.025 - 0.15, 0.175]]))

    def test_claims_are_ordered_with_their_signs(self) -> None:
        exact, reverse, sizes = (self.sums(claims)[0] for claims in ([3, -1, 0], [-3, 1, 0], [3, 1, 0]))
        assert (exact[0], reverse[0]) == pytest.approx((0.8, -0.8))
        assert sizes[0] == pytest.approx(0.4 + 0.3 - 0.1)

    def test_explanations_without_a_part_have_no_order(self) -> None:
        assert self.sums([0, 0, 0])[:, 0].tolist() == [0, 0, 0]
        assert self.sums([0, 0, 0], [1, 2, 3, 4], shape=(2, 2))[1, 0] == 0  # another grid

    def test_a_timeline_of_another_length(self) -> None:
        assert self.sums([0] * 3, time=[2, 1])[2] == pytest.approx(self.sums([0] * 3, time=[2, 1, 0])[2])
        assert self.sums([0] * 3, time=[2, 1, 0, 9])[2] == pytest.approx(self.sums([0] * 3, time=[2, 1, 0])[2])

    def test_a_cause_that_is_everywhere_has_no_rest(self) -> None:
        everywhere = ClipCauses(self.contributions, {"a": np.ones(4, dtype=bool)}, {"a": np.zeros(3, dtype=bool)})
        told_ = [replace(Explanation(), space=np.ones((1, 4)))]
        found = cause_sums(
            told_, np.zeros((1, 2, 3)), [everywhere], self.grid, np.zeros(1, np.int64), self.shares, ("a", "b", "c")
        )
        assert found["space"].tolist() == found["time"].tolist() == [[0] * 4]
        assert REST not in ("a", "b", "c")


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


def test_a_clip_holds_up_at_most_wholly_and_as_the_weights_say() -> None:
    # Space: 1, with R = .5 of both clips. Time: 0 of 1. Claims .6 of .8. Text .5.
    space = [[0.5, 0.5, 0.5, 0, 0.5], [0, 0.5, 0.5, 0, 0]]
    nothing = {field.name: np.zeros((2, 1)) for field in fields(AxisSums)}
    parts = {"faithfulness_space": space, "faithfulness_time": np.zeros((2, 4)), "cue_claims": [[0.6, 0.8], [0, 0]]}
    table = AxisSums(
        **nothing
        | dict.fromkeys(("exchanged", "edited"), np.ones((2, 1)))
        | {name: np.array(values) for name, values in parts.items()}
        | {"text": np.full((2, 1), 0.5)}
    )
    values = np.stack([axis.of_clips(table) for axis in LABEL_FREE], axis=1)
    assert values == pytest.approx(np.array([[1, 0, 0.75, 0.5], [-0.1, 0, 0, 0.5]]))
    weights = ExplanationScore().weights
    shares = np.array([weights.faithfulness_space, weights.faithfulness_time, weights.cue_claims, weights.text])
    assert held_up(table, weights) == pytest.approx(values @ shares / shares.sum())


@pytest.mark.parametrize("bin_s", [1e-320, 1e-9, 1e300])
def test_bins_of_any_length_are_compared_with_what_people_pointed_at(bin_s: float) -> None:
    told = replace(Explanation(), time=np.array([1.0, 2.0, 3.0]), bin_s=bin_s)
    values, _ = clip_plausibility(["c1"], [told], {"c1": [Observation(0.5, 2.0, None)]})
    assert np.isfinite(values).all()


@pytest.mark.parametrize("key", AXES)
def test_an_axis_has_all_that_is_shown_and_said_of_it(key: str) -> None:
    """A part that was forgotten must not be missed by the first report that needs it."""
    axis = REGISTRY[key]
    (column,) = (one for one in columns(read_settings(ROOT / "reference_data/practice/task.yaml")) if one.key == key)
    assert (column.title, column.meaning, column.file == "causes") == (axis.title, axis.meaning, axis.of_causes)
    assert len(axis.title) <= 36
    assert getattr(ExplanationScore().weights, key) > 0
    assert all((axis.shown, axis.meaning, axis.otherwise, axis.error_analysis))
    assert all((one.key, one.advice, one.finding) for one in axis.error_analysis)
    widths = {"clips": 1, "cue_claims": 2}
    zeros = {field.name: np.zeros((3, widths.get(field.name, 4))) for field in fields(AxisSums)}
    nothing = AxisSums(**zeros | {"clips": np.ones((3, 1))})
    assert axis.value(nothing).tolist() == [0, 0, 0]
    assert np.nan_to_num(axis.of_clips(nothing)).tolist() == [0, 0, 0]
    assert set(REGISTRY) == set(AXES)


MODULES = [importlib.import_module(one.name) for one in pkgutil.walk_packages(score.__path__, "score.")]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_of_docstrings_run(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("function", [*METRICS.values(), order_skill, credited_skill, power_mean, specificity])
def test_every_metric_has_an_example(function: FunctionType) -> None:
    assert ">>> " in (function.__doc__ or "")
