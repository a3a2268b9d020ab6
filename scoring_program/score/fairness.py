"""How a run treats groups of people: residuals, errors and selection, each against the other groups.

Nothing here is a score. For a group g and the people of the other groups of the same attribute:

    residual    mean of p - t over the clips of g                       0: well calibrated
    error gap   mean |p - t| of g, minus that of the others             0: predicted equally well
    rate ratio  share of g with p >= threshold, over that of the others  1: selected equally often

Groups of fewer than five people are left out entirely, also from the "other groups": two published groups and a total
would reveal the third. Intervals come from a bootstrap over people, because clips of one person are not
independent. The rate ratio is what "disparate impact" and the four-fifths rule of US selection guidelines (29 CFR
1607.4 D) look at; it is also given for the labels, because a model is to blame only for what it adds.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from score.metrics import Sums, percentile_interval, resample_weights
from score.read.outcomes import Outcomes
from score.read.reference import Attribute
from score.settings import Settings

Array = NDArray[np.float64]

FEWEST_PEOPLE = 5
"""Groups of fewer people are not shown, to protect individuals."""
ENOUGH_PEOPLE = 30
"""Groups of fewer people get a warning."""
_ENOUGH_ANSWERED = 0.9
"""Share of clips that need a prediction before a closed phase shows anything. Otherwise the mean residual of a model
that answers a single clip would reveal its label."""
_MOST_UNDEFINED = 0.05  # a number that is undefined in a larger share of resamples has no interval


class Gap(NamedTuple):
    """One number about one group."""

    value: float
    """NaN if undefined, such as a ratio to a rate of 0."""
    interval: tuple[float, float] | None
    """Bootstrap interval; None without resamples, or if the value is undefined in more than 5 % of them."""


@dataclass(frozen=True)
class GroupGaps:
    """The measurements of one group."""

    name: str
    """Value of the attribute."""
    people: int
    """Source videos with a clip in the group, >= 5."""
    clips: int
    residual: tuple[Gap, ...]
    """Per target: mean of prediction minus label in the target's units, over clips with a prediction."""
    error_gap: tuple[Gap, ...]
    """Per target: mean absolute error minus that of the others; the error of a failed clip is the whole range."""
    rate: float
    """Share of its clips whose predicted main target reaches the threshold, 0 to 1; NaN without a prediction."""
    rate_ratio: Gap
    """``rate`` divided by that of the others."""
    label_ratio: Gap

    @property
    def few(self) -> bool:
        """Whether the group is too small for conclusions."""
        return self.people < ENOUGH_PEOPLE


@dataclass(frozen=True)
class AttributeGaps:
    """One attribute."""

    name: str
    """As in the table of groups."""
    groups: tuple[GroupGaps, ...]
    """Two or more groups of at least five people each; empty if there are none to compare."""
    left_out: int
    """Groups that are too small to be shown."""


@dataclass(frozen=True)
class Summary:
    """One attribute in one line: for each number the most extreme group, on the main target."""

    name: str
    """As in the table of groups."""
    groups: int
    """Number of compared groups; 0 if none can be compared."""
    few: bool
    """Whether one of them has too few people for conclusions."""
    residual: float
    """Largest absolute mean residual, in the target's units; NaN without one."""
    error_gap: float
    """Largest gap between mean absolute errors, in the target's units; NaN without one."""
    rate_ratio: float
    """Lowest ratio of a group's rate to that of the others; NaN without one."""


@dataclass(frozen=True)
class Fairness:
    """All attributes of a run."""

    threshold: float
    """Value of the main target from which a person counts as selected."""
    threshold_is_median: bool
    """Whether the threshold is the median of the labels, because no setting gives one."""
    attributes: tuple[AttributeGaps, ...]
    """In the order of the table of groups; empty if readers may see only the summaries."""
    summaries: tuple[Summary, ...]
    """One for each attribute, in the same order."""
    answered: float
    """Share of the clips with a prediction, 0 to 1."""

    def coarse(self) -> "Fairness":
        """Keep what participants of a closed phase may see: rounded summaries, without the median of the labels.

        Numbers from few people or few answers would reveal a person's group or a clip's label.
        """
        return Fairness(
            threshold=math.nan if self.threshold_is_median else self.threshold,
            threshold_is_median=self.threshold_is_median,
            attributes=(),
            summaries=tuple(
                _coarse(summary, shown=self.answered >= _ENOUGH_ANSWERED and not summary.few)
                for summary in self.summaries
            ),
            answered=self.answered,
        )


def _coarse(summary: Summary, *, shown: bool) -> Summary:
    names = ("residual", "error_gap", "rate_ratio")
    values: dict[str, Any] = {name: round(getattr(summary, name), 1) if shown else math.nan for name in names}
    return replace(summary, **values)


@dataclass(frozen=True)
class _Table(Sums):
    """Addends of all numbers: one row for each clip, one column for each of k targets."""

    count: Array
    """(rows, 1) clips."""
    ok: Array
    """(rows, 1) clips with a prediction."""
    residual: Array
    """(rows, k) p - t; 0 for a failed clip."""
    error: Array
    """(rows, k) |p - t|; the range for a failed clip."""
    selected: Array
    """(rows, 1) 1 if the predicted main target reaches the threshold."""
    labelled: Array
    """(rows, 1) 1 if the label reaches the threshold."""


def measure_fairness(outcomes: Outcomes, settings: Settings) -> Fairness | None:
    """Compare the groups of every attribute.

    `outcomes`: one outcome for each clip of the reference; those that cannot be decoded are left out. Returns None if
    the phase has no groups.
    """
    groups = outcomes.known.groups
    if not groups:
        return None
    kept = outcomes.counted
    main = settings.names.index(settings.main_target)
    truth, prediction = outcomes.truth[kept], outcomes.prediction[kept]
    threshold = settings.selection_threshold
    if threshold is None:
        threshold = float(np.median(truth[:, main]))
    span = np.array([target.maximum - target.minimum for target in settings.targets])
    failed = np.isnan(prediction)
    good = ~failed[:, main : main + 1]
    table = _Table(
        count=np.ones((len(truth), 1)),
        ok=good.astype(np.float64),
        residual=np.where(failed, 0.0, prediction - truth),
        error=np.where(failed, span, np.abs(prediction - truth)),
        selected=(good & (prediction[:, main : main + 1] >= threshold)).astype(np.float64),
        labelled=(truth[:, main : main + 1] >= threshold).astype(np.float64),
    )
    people = np.unique(outcomes.sources[kept], return_inverse=True)[1].astype(np.int64)
    attributes = tuple(_compare(attribute, attribute.member[kept], people, table, settings) for attribute in groups)
    return Fairness(
        threshold=threshold,
        threshold_is_median=settings.selection_threshold is None,
        attributes=attributes,
        summaries=tuple(_summary(attribute, main) for attribute in attributes),
        answered=float(table.ok.mean()),
    )


def _summary(attribute: AttributeGaps, main: int) -> Summary:
    groups = attribute.groups

    def largest(values: list[float]) -> float:
        return max((abs(value) for value in values if math.isfinite(value)), default=math.nan)

    ratios = [group.rate_ratio.value for group in groups if math.isfinite(group.rate_ratio.value)]
    return Summary(
        name=attribute.name,
        groups=len(groups),
        few=any(group.few for group in groups),
        residual=largest([group.residual[main].value for group in groups]),
        error_gap=largest([group.error_gap[main].value for group in groups]),
        rate_ratio=min(ratios, default=math.nan),
    )


def _compare(
    attribute: Attribute, member: NDArray[np.int64], people: NDArray[np.int64], table: _Table, settings: Settings
) -> AttributeGaps:
    sizes = [len(np.unique(people[member == number])) for number in range(len(attribute.values))]
    shown = [number for number, size in enumerate(sizes) if size >= FEWEST_PEOPLE]
    left_out = sum(0 < size < FEWEST_PEOPLE for size in sizes)
    if len(shown) < 2:
        return AttributeGaps(attribute.name, (), left_out)
    count = int(people.max()) + 1
    draws = resample_weights(count, settings.bootstrap.resamples, settings.bootstrap.seed)
    weights = np.concatenate([np.ones((1, count)), *draws])
    groups = []
    for number in shown:
        own, others = (
            table.of(chosen).grouped(people[chosen], count).weighted(weights)
            for chosen in (member == number, np.isin(member, [other for other in shown if other != number]))
        )
        groups.append(_gaps(attribute.values[number], sizes[number], own, others, settings.bootstrap.level))
    return AttributeGaps(attribute.name, tuple(groups), left_out)


def _gaps(name: str, people: int, own: _Table, others: _Table, level: float) -> GroupGaps:
    """Turn sums, whose first row is the data and whose other rows are resamples, into numbers."""

    def gaps(draws: Array) -> tuple[Gap, ...]:
        return tuple(_gap(column, level) for column in draws.T)

    rate = _ratio(own.selected, own.ok)
    (rate_ratio,) = gaps(_ratio(rate, _ratio(others.selected, others.ok)))
    (label_ratio,) = gaps(_ratio(_ratio(own.labelled, own.count), _ratio(others.labelled, others.count)))
    return GroupGaps(
        name=name,
        people=people,
        clips=int(own.count[0, 0]),
        residual=gaps(_ratio(own.residual, own.ok)),
        error_gap=gaps(_ratio(own.error, own.count) - _ratio(others.error, others.count)),
        rate=float(rate[0, 0]),
        rate_ratio=rate_ratio,
        label_ratio=label_ratio,
    )


def _ratio(above: Array, below: Array) -> Array:
    """Divide; NaN if the denominator is 0."""
    return np.asarray(above / np.where(below > 0, below, np.nan))


def _gap(draws: Array, level: float) -> Gap:
    value, resampled = float(draws[0]), draws[1:]
    defined = resampled[np.isfinite(resampled)]
    if len(defined) == 0 or len(defined) < (1 - _MOST_UNDEFINED) * len(resampled):
        return Gap(value, None)
    low, high = percentile_interval(defined, level)
    return Gap(value, (float(low), float(high)))
