"""Several runs on the same clips: scored by the bundle's own program on common resamples, ranked, and printed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.bands import ABOVE, Contender, bands, mean_ranks, places, shares_above
from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError
from bundle_tools.programs import scoring_input, use_scoring_program
from score.axes.registry import axis_weights
from score.axes.table import credited_skill
from score.columns import columns
from score.diagnostics import TITLES
from score.errors import ScoringError
from score.evaluate import ClipScores, clip_scores, column_values
from score.evaluate import held_up as of_clips
from score.metrics import percentile_interval, resample_weights
from score.pipeline import prepare
from score.settings import Settings

Array = NDArray[np.float64]
TOTAL = "explanation"
"""The column by which runs are sorted."""


@dataclass(frozen=True)
class Explained:
    """A run's answers on the n clips that count, and facts about the run."""

    prediction: Array
    """(n, k) in the targets' ranges; NaN for a failed clip."""
    texts: tuple[str, ...]
    """n original texts of explanations; empty for a failed clip."""
    jury: float
    """Mean rating by a jury, 0 without one."""
    failed: int
    duration_s: float
    """Wall time of ingestion, >= 0."""
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entry:
    """One run, scored."""

    name: str
    scores: ClipScores
    answers: Explained
    skill: float
    """Skill factor: the share of the way from the constant to the reference, in [0, 1]."""
    points: dict[str, float]
    """Column -> value on all clips, unrounded, in leaderboard order."""
    draws: dict[str, Array]
    """Column -> (resamples,) values; entry j is the same resample for every run. Plain facts are left out."""


@dataclass(frozen=True)
class Field:
    """The runs of one comparison, all over the same clips."""

    phase: str
    settings: Settings
    truth: Array
    """(n, k) labels of the clips that count, in the targets' ranges."""
    entries: tuple[Entry, ...]
    """At least one, in the order given."""
    drawn: bool
    """Whether the draws are resamples; with a single source, each draw is the value itself."""

    @property
    def clip_ids(self) -> tuple[str, ...]:
        """Return the n ids, ascending; clips that cannot be decoded are left out."""
        return self.entries[0].scores.clip_ids

    @property
    def weights(self) -> dict[str, float]:
        """Return the weight of each axis in the phase's total; what no clip can measure is left out."""
        return axis_weights(self.settings.explanation_score, self.entries[0].scores.left_out)


def score_field(phase: Phase, runs: Sequence[RunFolder], resamples: int, scratch: Path) -> Field:
    """Score runs.

    `runs`: at least one, all of this phase. `resamples`: number of resamples, >= 1. Raises BundleError when the phase
    lacks something, or with every run that cannot be scored and why.
    """
    reference = use_scoring_program(phase, scratch)
    truth, gathered = _gathered(runs, reference, scratch)
    first = gathered[0][0]
    for run, (scores, _) in zip(runs, gathered, strict=True):
        if scores.clip_ids != first.clip_ids:
            raise BundleError(f"{run.name}: the decoded clips differ from those of {runs[0].name}. Run both again.")
    drawn = first.groups > 1
    weights = np.ones((1, first.groups))
    if drawn:
        weights = np.concatenate(list(resample_weights(first.groups, resamples, first.settings.bootstrap.seed)))
    entries = (_entry(run.name, scores, facts, weights) for run, (scores, facts) in zip(runs, gathered, strict=True))
    return Field(phase.slug, first.settings, truth, tuple(entries), drawn)


def _gathered(
    runs: Sequence[RunFolder], reference: Path, scratch: Path
) -> tuple[Array, list[tuple[ClipScores, Explained]]]:
    """Read every run, but keep only what is needed: the maps of all runs would fill the memory."""
    truth, gathered, wrong = np.empty((0, 0)), [], []
    for number, run in enumerate(runs):
        source = scoring_input(scratch / f"scored-{number}", reference, run.folder)
        try:
            prepared = prepare(source)
        except ScoringError as error:
            reasons = "; ".join(dict.fromkeys(problem.code for problem in error.problems))
            wrong.append(f"{run.name}: {error.headline} ({reasons})")
            continue
        counted = prepared.outcomes.only_counted()
        facts = prepared.results.run
        answers = Explained(
            prediction=counted.prediction,
            texts=tuple(explanation.text for explanation in counted.explanations),
            jury=prepared.jury.value if prepared.jury else 0.0,
            failed=counted.failed,
            duration_s=facts.duration_s,
            facts=facts.details,
        )
        truth = counted.truth
        gathered.append((clip_scores(prepared.outcomes, prepared.settings), answers))
    if wrong:
        raise BundleError(" ".join(wrong) + " Leave them out, or run them again.")
    return truth, gathered


def _entry(name: str, scores: ClipScores, facts: Explained, weights: Array) -> Entry:
    ones = np.ones((1, len(scores.clip_ids)))
    moments, axes = scores.moments.weighted(ones), scores.axes.weighted(ones)
    measured = scores.measured((moments, axes), facts.jury, facts.failed, facts.duration_s)
    return Entry(
        name=name,
        scores=scores,
        answers=facts,
        skill=float(credited_skill(axes.error, axes.baseline_error, axes.reference_error)[0]),
        points={column.key: float(np.ravel(column.compute(measured))[0]) for column in columns(scores.settings)},
        draws=column_values(scores, weights),
    )


# More columns would not fit side by side.
MOST_PAIRED = 12
LONGEST_NAME = 40
LARGE_REACTION = "!"


@dataclass(frozen=True)
class Standing:
    """One run among the others: its total, 0 to 100, and its axes, 0 to 1; places count from 1 for the best."""

    name: str
    band: int
    """1 for the best; runs within a band cannot be told apart."""
    place: int
    total: float
    interval: tuple[float, float] | None
    """Interval of the total over common resamples; None with a single source."""
    arithmetic: float
    """The total with a plain weighted mean of the axes, 0 to 100."""
    arithmetic_place: int
    mean_rank: float
    """Mean of the ranks on each axis, on coverage and on skill, >= 1; lower is better."""
    mean_rank_place: int
    coverage: float
    skill: float
    """Share of the way from the constant to the reference, in [0, 1]."""
    axes: dict[str, float]
    reasons: dict[str, int] | None
    """Numbers of clips right or wrong, grounded or not; None if the phase has no known causes."""
    reaction_size: float | None
    """How strongly the model reacts to hiding, relative to its claims; None with too few clips."""
    large_reaction: bool | None
    """Whether that is so large that the code deserves a look."""
    above: dict[str, float]
    """Name of each other run -> share of the resamples in which this one's total is higher."""


def record(rows: Sequence[Standing], phase: str, resamples: int) -> dict[str, Any]:
    """Return the comparison as JSON data."""
    return {"phase": phase, "resamples": resamples, "share": ABOVE, "runs": [asdict(row) for row in rows]}


def lines(rows: Sequence[Standing], phase: str, resamples: int) -> list[str]:
    """Return the comparison for a terminal: the ranking, the axes, and who is above whom."""
    names = [_short(row.name) for row in rows]
    ranking = [["band", "place", "total", "95 % interval", "arithmetic mean", "mean rank", "run"]]
    axes = [[*(rows[0].axes if rows else ()), "coverage", "skill'", "run"]]
    for row, name in zip(rows, names, strict=True):
        interval = f"[{row.interval[0]:.2f}, {row.interval[1]:.2f}]" if row.interval else "-"
        ranking.append(
            [
                str(row.band),
                str(row.place),
                f"{row.total:.2f}",
                interval,
                f"{row.arithmetic:.2f} ({row.arithmetic_place})",
                f"{row.mean_rank:.2f} ({row.mean_rank_place})",
                name,
            ]
        )
        axes.append([*(f"{value:.4f}" for value in (*row.axes.values(), row.coverage, row.skill)), name])
    text = [f"Phase {phase}, {len(rows)} runs, {resamples} common resamples of the sources.", "", *_aligned(ranking)]
    text += ["", *_aligned(axes)]
    text += ["", *_aligned(_beside(rows, names))]
    if any(row.large_reaction for row in rows):
        text.append(f"{LARGE_REACTION} Altering the picture moves this model more than it claims: read its code.")
    if 1 < len(rows) <= MOST_PAIRED:
        pairs = [["higher than", *(str(number) for number in range(1, len(rows) + 1)), "run"]]
        for number, (row, name) in enumerate(zip(rows, names, strict=True), 1):
            shares = ["-" if other.name == row.name else f"{row.above[other.name]:.2f}" for other in rows]
            pairs.append([str(number), *shares, name])
        text += ["", *_aligned(pairs)]
    text += [
        "",
        f"A run is above another if its total is higher in {ABOVE:.0%} of the resamples; a band begins with the",
    ]
    return [*text, "best run that has none above it, and ends before the first run that is below one of its members."]


def _beside(rows: Sequence[Standing], names: Sequence[str]) -> list[list[str]]:
    """Return unscored values: clips right for the right reason or not, and the reaction size."""
    titles = TITLES if any(row.reasons for row in rows) else {}
    cells = [[*titles.values(), "reaction size", "run"]]
    for row, name in zip(rows, names, strict=True):
        mark = f" {LARGE_REACTION}" if row.large_reaction else ""
        size = "-" if row.reaction_size is None else f"{row.reaction_size:.2f}"
        cells.append([*(str(row.reasons[key]) if row.reasons else "-" for key in titles), size + mark, name])
    return cells


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    # The name comes last, aligned left, because it may have any length.
    return [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in cells
    ]


def _short(name: str) -> str:
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


LEVEL = 2 * ABOVE - 1
"""Level of the interval of a difference: each tail is the share of resamples that a run may lose and still be above."""


@dataclass(frozen=True)
class Difference:
    """One column of one run minus the same column of another."""

    value: float
    interval: tuple[float, float] | None
    """On common resamples, at `LEVEL`; None without resamples."""
    higher: float
    """Share of the resamples in which the first run is strictly higher, in [0, 1]."""
    lower: float

    @property
    def direction(self) -> int:
        """Return 1 if the first run is above the other, -1 if it is below, 0 if the difference may be chance."""
        return int(self.higher >= ABOVE) - int(self.lower >= ABOVE)


def difference(entry: Entry, other: Entry, column: str, *, drawn: bool = True) -> Difference:
    """Subtract a column of one run from that of another.

    `drawn`: whether the draws are resamples; if they are not, there is no interval.
    """
    gap = entry.draws[column] - other.draws[column]
    tail = (1 - LEVEL) / 2
    ends = np.quantile(gap, [tail, 1 - tail]) if drawn else None
    return Difference(
        value=entry.points[column] - other.points[column],
        interval=None if ends is None else (float(ends[0]), float(ends[1])),
        higher=float((gap > 0).mean()),
        lower=float((gap < 0).mean()),
    )


def widest(values: Array, most: int) -> list[int]:
    """Choose the clips with the largest range of values over the runs.

    `values`: (runs, clips); NaN where a run has none; NaN is ignored. `most`: most clips to return, >= 0. Returns
    indices of clips, largest range first, ties in clip order; clips on which all runs agree are left out.
    """
    spread = np.fmax.reduce(values) - np.fmin.reduce(values)
    order = np.argsort(-np.nan_to_num(spread), kind="stable")[:most]
    return [int(clip) for clip in order if spread[clip] > 0]


def errors(field: Field, target: int) -> Array:
    """Return (runs, clips) absolute errors of a target on the unit scale; 1 for a failed clip."""
    return np.stack([entry.scores.moments.absolute_error[:, target] for entry in field.entries])


def held_up(field: Field) -> Array:
    """Return (runs, clips) how well each clip's explanation holds up, by which reports sort clips."""
    weights = field.settings.explanation_score.weights
    return np.stack([of_clips(entry.scores.axes, weights) for entry in field.entries])


DIAGNOSTIC = "Totals are diagnostic here: the leaderboard ranks by predictions."
"""Added if the phase does not rank by totals."""


def standings(field: Field) -> list[Standing]:
    """Sort runs, best total first."""
    weights = field.weights
    arithmetic = [
        100 * run.points["coverage"] * run.skill * sum(weight * run.points[axis] for axis, weight in weights.items())
        for run in field.entries
    ]
    # Skill and coverage count too: a model that predicts nothing may explain it well.
    judged = [[*(run.points[axis] for axis in weights), run.points["coverage"], run.skill] for run in field.entries]
    ranks = mean_ranks(np.array(judged))
    contenders = [Contender(run.name, run.points[TOTAL], run.draws[TOTAL]) for run in field.entries]
    above = shares_above(contenders)
    total_places = places([contender.total for contender in contenders])
    arithmetic_places, rank_places = places(arithmetic), places(-ranks)
    band_of = bands(contenders)
    result = {}
    for at, (run, contender) in enumerate(zip(field.entries, contenders, strict=True)):
        ends = percentile_interval(contender.draws, field.settings.bootstrap.level) if field.drawn else None
        result[run.name] = Standing(
            name=run.name,
            band=band_of[run.name],
            place=total_places[at],
            total=contender.total,
            interval=(float(ends[0]), float(ends[1])) if ends else None,
            arithmetic=arithmetic[at],
            arithmetic_place=arithmetic_places[at],
            mean_rank=float(ranks[at]),
            mean_rank_place=rank_places[at],
            coverage=run.points["coverage"],
            skill=run.skill,
            axes={axis: run.points[axis] for axis in weights},
            reasons=asdict(run.scores.reasons) if run.scores.reasons else None,
            reaction_size=run.scores.reaction.value,
            large_reaction=run.scores.reaction.large,
            above={other.name: float(above[at, k]) for k, other in enumerate(contenders) if k != at},
        )
    return [result[name] for name in band_of]
