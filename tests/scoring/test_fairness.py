"""Group gaps: properties first, then a table worked by hand, then agreement with scikit-learn, then coverage."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error

from score.fairness import AttributeGaps, Fairness, Gap, measure_fairness
from score.pipeline import prepare
from score.read.known import Known
from score.read.outcomes import Outcomes
from score.read.reference import Attribute
from score.settings import Settings
from tests import there
from tests.scoring.factory import NAMES, make_case, make_input

Array = NDArray[np.float64]
MAIN = NAMES.index("interview")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return prepare(make_input(tmp_path_factory.mktemp("fair"), make_case(clips=4))).settings


def outcomes(truth: Array, prediction: Array, member: list[int], sources: list[int] | None = None) -> Outcomes:
    """Outcomes over one attribute; (n,) values are those of every target."""
    n = len(truth)

    def wide(values: Array) -> Array:
        return np.repeat(np.asarray(values, float)[:, None], len(NAMES), axis=1)

    number = np.array(member)
    names = tuple(f"g{value}" for value in range(int(number.max()) + 1))
    return Outcomes(
        clip_ids=tuple(f"c{at:04d}" for at in range(n)),
        statuses=tuple("failed" if np.isnan(value) else "ok" for value in prediction),
        explanations=(),
        prediction=wide(prediction),
        span=np.ones(len(NAMES)),
        truth=wide(truth),
        sources=np.array(range(n) if sources is None else sources, dtype=np.int64),
        probes=(),
        repeats=(),
        known=Known(groups=(Attribute("side", names, number),)),
        warnings=(),
        exchanged=np.ones(n, bool),
        edited=np.ones(n, bool),
    )


def measured(run: Outcomes, settings: Settings, **changes: Any) -> Fairness:  # noqa: ANN401 - any setting
    return there(measure_fairness(run, replace(settings, **changes)))


def sides(run: Outcomes) -> Attribute:
    """The one attribute of a run."""
    return run.known.groups[0]


def ends(gap: Gap) -> tuple[float, float]:
    assert gap.interval is not None
    return gap.interval


def gaps(run: Outcomes, settings: Settings, **changes: Any) -> AttributeGaps:  # noqa: ANN401 - any setting
    return measured(run, settings, **changes).attributes[0]


def drawn(seed: int, people: int = 40, gap: float = 0.0) -> Outcomes:
    """Two clips a person, whose residuals are alike; the second half of the people is predicted higher by ``gap``."""
    draw = np.random.default_rng(seed)
    sources = np.repeat(np.arange(people), 2)
    member = (sources >= people // 2).astype(int)
    truth = np.clip(draw.normal(0.5, 0.1, 2 * people), 0, 1)
    own = draw.normal(0, 0.05, people)[sources] + draw.normal(0, 0.03, 2 * people)
    return outcomes(truth, truth + own + gap * member, member.tolist(), sources.tolist())


def test_without_groups_nothing_is_measured(settings: Settings) -> None:
    run = drawn(0)
    assert measure_fairness(replace(run, known=replace(run.known, groups=())), settings) is None


def test_order_of_clips_and_names_of_groups_change_nothing(settings: Settings) -> None:
    run = drawn(1, gap=0.1)
    order = np.random.default_rng(0).permutation(len(run.clip_ids))
    side = sides(run)
    shuffled = replace(
        run,
        statuses=tuple(run.statuses[at] for at in order),
        prediction=run.prediction[order],
        truth=run.truth[order],
        sources=run.sources[order],
        known=Known(groups=(replace(side, member=side.member[order]),)),
    )
    swapped = replace(run, known=Known(groups=(replace(side, values=("z", "a"), member=1 - side.member),)))
    first, second = gaps(run, settings).groups
    for one, other in zip((first, second), gaps(shuffled, settings).groups, strict=True):
        assert one.residual[MAIN].value == pytest.approx(other.residual[MAIN].value)
        assert list(ends(one.residual[MAIN])) == pytest.approx(list(ends(other.residual[MAIN])))
        assert one.rate_ratio.value == pytest.approx(other.rate_ratio.value)
    by_name = {group.name: group for group in gaps(swapped, settings).groups}
    assert by_name["a"].residual[MAIN] == first.residual[MAIN]
    assert by_name["z"].error_gap[MAIN] == second.error_gap[MAIN]


def test_a_planted_gap_is_found_and_nothing_is_found_where_none_is(settings: Settings) -> None:
    low, high = gaps(drawn(3, gap=0.15), settings).groups
    assert ends(low.residual[MAIN])[1] < ends(high.residual[MAIN])[0]
    assert high.error_gap[MAIN].value > 0.05
    assert high.rate_ratio.value > 1.2 > low.rate_ratio.value
    assert low.label_ratio.value == pytest.approx(1, abs=0.5)
    for group in gaps(drawn(4), settings).groups:
        assert ends(group.residual[MAIN])[0] < 0 < ends(group.residual[MAIN])[1]


def test_a_table_worked_by_hand(settings: Settings) -> None:
    # Five people a group, one clip each; threshold 0.5. Group 0: p - t = +0.1 for all, labels 0.3 0.3 0.5 0.7 0.7,
    # so predictions 0.4 0.4 0.6 0.8 0.8: 3 of 5 are selected, as in the labels. Group 1: the same labels, one failed
    # (0.7), the others exact: 2 of 4 are selected, 3 of 5 labels; errors 0 0 0 0 1, so their mean is 0.2.
    truth = np.array([0.3, 0.3, 0.5, 0.7, 0.7] * 2)
    prediction = np.concatenate([truth[:5] + 0.1, truth[5:9], [np.nan]])
    one, other = gaps(outcomes(truth, prediction, [0] * 5 + [1] * 5), settings, selection_threshold=0.5).groups
    assert (one.people, one.clips, one.few) == (5, 5, True)
    assert one.residual[MAIN].value == pytest.approx(0.1)
    assert one.error_gap[MAIN].value == pytest.approx(0.1 - 0.2)
    assert [one.rate, other.rate] == pytest.approx([0.6, 0.5])
    assert one.rate_ratio.value == pytest.approx(1.2)
    assert other.rate_ratio.value == pytest.approx(1 / 1.2)
    assert other.residual[MAIN].value == pytest.approx(0)
    assert other.label_ratio.value == pytest.approx(1)


def test_the_threshold_is_the_median_of_the_labels_unless_the_settings_name_one(settings: Settings) -> None:
    run = drawn(5)
    without = measured(run, settings, selection_threshold=None)
    assert without.threshold_is_median
    assert without.threshold == np.median(run.truth[:, MAIN])
    named = measured(run, settings, selection_threshold=0.7)
    assert (named.threshold, named.threshold_is_median) == (0.7, False)
    assert named.attributes[0].groups[0].rate < without.attributes[0].groups[0].rate


def test_small_groups_are_left_out_of_the_others_too(settings: Settings) -> None:
    run = drawn(6, people=20)
    four = outcomes(np.full(4, 0.5), np.full(4, 1.0), [0] * 4)
    side = np.concatenate([sides(run).member, [2] * 4])
    both = replace(
        run,
        clip_ids=(*run.clip_ids, *(f"d{at}" for at in range(4))),
        statuses=(*run.statuses, *four.statuses),
        prediction=np.concatenate([run.prediction, four.prediction]),
        truth=np.concatenate([run.truth, four.truth]),
        sources=np.concatenate([run.sources, four.sources + 100]),
        known=Known(groups=(Attribute("side", ("g0", "g1", "g2"), side),)),
    )
    alone = gaps(run, settings, selection_threshold=0.5)
    with_them = gaps(both, settings, selection_threshold=0.5)
    assert (alone.left_out, with_them.left_out) == (0, 1)
    assert [group.name for group in with_them.groups] == ["g0", "g1"]
    for one, other in zip(alone.groups, with_them.groups, strict=True):
        assert one.error_gap[MAIN].value == pytest.approx(other.error_gap[MAIN].value)
        assert one.rate_ratio.value == pytest.approx(other.rate_ratio.value)


def test_one_group_that_is_large_enough_is_compared_with_nobody(settings: Settings) -> None:
    values = np.linspace(0.2, 0.8, 24)
    found = gaps(outcomes(values, values, [0] * 20 + [1] * 4), settings)
    assert (found.groups, found.left_out) == ((), 1)


def test_the_summary_names_the_worst_treated_group_and_the_coarse_one_says_little(settings: Settings) -> None:
    fairness = measured(drawn(9, gap=0.0877), settings)
    (summary,) = fairness.summaries
    groups = fairness.attributes[0].groups
    assert (summary.groups, summary.few) == (2, True)
    assert summary.residual == max(abs(group.residual[MAIN].value) for group in groups)
    assert summary.rate_ratio == min(group.rate_ratio.value for group in groups) < 1
    large = measured(drawn(9, people=80, gap=0.0877), settings)
    (summary,), (coarse,) = large.summaries, large.coarse().summaries
    assert large.coarse().attributes == ()
    assert np.isnan(large.coarse().threshold)
    for value in (coarse.residual, coarse.error_gap, coarse.rate_ratio):
        assert value == round(value, 1)
    assert coarse.residual == pytest.approx(summary.residual, abs=0.05)
    assert measured(drawn(9), settings, selection_threshold=0.6).coarse().threshold == 0.6


def test_where_clips_are_closed_neither_few_people_nor_few_answers_say_anything(settings: Settings) -> None:
    def said(fairness: Fairness) -> list[float]:
        (one,) = fairness.coarse().summaries
        return [one.residual, one.error_gap, one.rate_ratio]

    assert np.isnan(said(measured(drawn(9), settings))).all()  # 20 people a group
    run = drawn(9, people=80)
    assert np.isfinite(said(measured(run, settings))).all()
    one_answer = np.where(np.arange(160)[:, None] == 57, run.prediction, np.nan)  # its label would be the residual
    assert np.isnan(said(measured(replace(run, prediction=one_answer), settings))).all()


def test_nothing_to_compare_has_an_empty_summary(settings: Settings) -> None:
    values = np.linspace(0.2, 0.8, 24)
    (summary,) = measured(outcomes(values, values, [0] * 20 + [1] * 4), settings).summaries
    assert summary.groups == 0
    assert np.isnan([summary.residual, summary.error_gap, summary.rate_ratio]).all()


def test_people_are_counted_not_clips(settings: Settings) -> None:
    values = np.linspace(0.2, 0.8, 40)
    sources = [at // 10 for at in range(20)] + [100 + at for at in range(20)]
    assert gaps(outcomes(values, values, [0] * 20 + [1] * 20, sources), settings).groups == ()


def test_a_ratio_to_nobody_has_neither_value_nor_interval(settings: Settings) -> None:
    truth = np.array([0.6] * 5 + [0.2] * 5)
    one, other = gaps(outcomes(truth, truth, [0] * 5 + [1] * 5), settings, selection_threshold=0.5).groups
    assert np.isnan(one.rate_ratio.value)
    assert one.rate_ratio.interval is None
    assert other.rate_ratio.value == 0


def test_without_resamples_there_are_no_intervals(settings: Settings) -> None:
    none = replace(settings.bootstrap, resamples=0)
    for group in gaps(drawn(7), settings, bootstrap=none).groups:
        assert group.residual[MAIN].interval is None


def test_a_plain_computation_agrees(settings: Settings) -> None:
    run = drawn(8, gap=0.05)
    truth, prediction = run.truth[:, MAIN], run.prediction[:, MAIN]
    side = sides(run).member == 1
    second = gaps(run, settings, selection_threshold=0.55).groups[1]
    assert second.residual[MAIN].value == pytest.approx((prediction - truth)[side].mean())
    error = mean_absolute_error(truth[side], prediction[side]) - mean_absolute_error(truth[~side], prediction[~side])
    assert second.error_gap[MAIN].value == pytest.approx(error)
    assert second.rate_ratio.value == pytest.approx(
        (prediction[side] >= 0.55).mean() / (prediction[~side] >= 0.55).mean()
    )
    draw = np.random.default_rng(settings.bootstrap.seed)
    means = []
    for _ in range(settings.bootstrap.resamples):
        people = draw.integers(0, 40, 40)
        clips = np.concatenate([np.flatnonzero(run.sources == person) for person in people])
        means.append((prediction - truth)[clips][side[clips]].mean())
    assert list(ends(second.residual[MAIN])) == pytest.approx(np.quantile(means, [0.025, 0.975]).tolist())


def test_intervals_cover_a_known_gap_about_as_often_as_they_say(settings: Settings) -> None:
    many = replace(settings, bootstrap=replace(settings.bootstrap, resamples=200))
    hits = 0
    for seed in range(100):
        low, high = ends(gaps(drawn(seed, people=60, gap=0.04), many).groups[1].residual[MAIN])
        hits += low <= 0.04 <= high
    assert 0.88 <= hits / 100 <= 0.99


def test_the_run_reads_the_groups_that_the_settings_name(tmp_path: Path) -> None:
    case = make_case(clips=24, groups="groups.csv", selection_threshold=0.5)
    case.groups = "source_id,voice\n" + "".join(f"person-{n},{'low' if n < 6 else 'high'}\n" for n in range(12))
    prepared = prepare(make_input(tmp_path, case))
    fairness = there(measure_fairness(prepared.outcomes, prepared.settings))
    assert [(group.name, group.people) for group in fairness.attributes[0].groups] == [("high", 6), ("low", 6)]
