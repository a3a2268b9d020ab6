"""Several runs, scored with the bundle's own scoring program on the same clips and on common resamples."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.scoring_program import scoring_input, use_scoring_program
from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError
from score.axes.table import credited_skill
from score.columns import columns
from score.errors import ScoringError
from score.evaluate import ClipScores, clip_scores, column_values
from score.metrics import resample_weights
from score.pipeline import prepare
from score.settings import AXES, Settings

# Folders of `bundle run`, of `kit.py run`, of a download from the platform, and of ingestion itself.


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
    """Clips without a valid prediction, >= 0."""
    duration_s: float
    """Wall time of ingestion, >= 0."""
    facts: tuple[tuple[str, str], ...]
    """(label, value) from the record of the run."""


@dataclass(frozen=True)
class Entry:
    """One run, scored."""

    name: str
    """Unique name in the comparison."""
    scores: ClipScores
    """The source of its columns, one row per clip."""
    said: Explained
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
        """Return the weight of each axis in the phase's total; without known causes, their axis is left out."""
        axes = [axis for axis in AXES if axis != "known_causes" or self.entries[0].scores.has_causes]
        weights = {axis: float(getattr(self.settings.explanation_score.weights, axis)) for axis in axes}
        whole = sum(weights.values()) or 1.0
        return {axis: weight / whole for axis, weight in weights.items()}


def score_field(phase: Phase, runs: Sequence[Run], resamples: int, scratch: Path) -> Field:
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
    entries = (_entry(run.name, scores, said, weights) for run, (scores, said) in zip(runs, gathered, strict=True))
    return Field(phase.slug, first.settings, truth, tuple(entries), drawn)


def _gathered(runs: Sequence[Run], reference: Path, scratch: Path) -> tuple[Array, list[tuple[ClipScores, Explained]]]:
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
        said = Explained(
            prediction=counted.prediction,
            texts=tuple(explanation.text for explanation in counted.explanations),
            jury=prepared.jury.value if prepared.jury else 0.0,
            failed=counted.failed,
            duration_s=facts.duration_s,
            facts=facts.details,
        )
        truth = counted.truth
        gathered.append((clip_scores(prepared.outcomes, prepared.settings), said))
    if wrong:
        raise BundleError(" ".join(wrong) + " Leave them out, or run them again.")
    return truth, gathered


def _entry(name: str, scores: ClipScores, said: Explained, weights: Array) -> Entry:
    ones = np.ones((1, len(scores.clip_ids)))
    moments, axes = scores.moments.weighted(ones), scores.axes.weighted(ones)
    measured = scores.measured((moments, axes), said.jury, said.failed, said.duration_s)
    return Entry(
        name=name,
        scores=scores,
        said=said,
        skill=float(credited_skill(axes.error, axes.baseline_error, axes.reference_error)[0]),
        points={one.key: float(np.ravel(one.compute(measured))[0]) for one in columns(scores.settings)},
        draws=column_values(scores, weights),
    )
