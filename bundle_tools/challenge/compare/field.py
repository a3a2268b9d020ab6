"""Find the output of ingestion: in a run's folder, the starting kit's, a zip, or a fetched submission."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.scoring_program import scoring_input, use_scoring_program
from bundle_tools.codabench.archive import extract
from bundle_tools.codabench.competition import Phase
from bundle_tools.codabench.server.fetched import OUTPUT, is_fetched, runs_in
from bundle_tools.errors import BundleError
from score.axes.table import credited_skill
from score.columns import columns
from score.errors import ScoringError
from score.evaluate import ClipScores, RunNumbers, clip_scores, column_values
from score.metrics import resample_weights
from score.pipeline import prepare
from score.settings import AXES, Settings

# Folders of `bundle run`, of `kit.py run`, of a download from the platform, and of ingestion itself.
PLACES = ("", "ingestion_output", "input/res", "res")
LARGEST_FACTS = 20_000_000
LARGEST_OUTPUT = 2_000_000_000
"""Most bytes of one unpacked output; 10,000 clips with pictures take a sixth of that."""
MOST_FILES = 50_000
"""Most files of one output; the pictures of 10,000 clips are a fifth of that."""


@dataclass(frozen=True)
class Run:
    """The results of one submission."""

    name: str
    folder: Path
    """Contains `run.json` and `manifest.json`."""
    task: str
    """Name of the phase that it ran on, as in `run.json`."""


def expand(paths: list[Path]) -> list[Path]:
    """Replace a folder of `bundle server fetch` by its submissions that are on the leaderboard.

    Raises BundleError if none of them has an output.
    """
    found = []
    for path in paths:
        inside = runs_in(path) if is_fetched(path) else [path]
        if not inside:
            raise BundleError(f"{path}: expected submissions with an output, found none. Fetch again.")
        found += inside
    return found


def find_runs(paths: list[Path], scratch: Path) -> list[Run]:
    """Find the results in each folder or zip.

    `paths`: at least one; a folder of `bundle server fetch` stands for its submissions on the leaderboard. Raises
    BundleError with every path in which no results were found.
    """
    runs, wrong = [], []
    paths = expand(paths)
    for number, (path, name) in enumerate(zip(paths, _names(paths), strict=True)):
        folder = path
        packed = path / OUTPUT if (path / OUTPUT).is_file() else path
        if packed.is_file():
            folder = scratch / str(number)
            try:
                extract(packed, folder, LARGEST_OUTPUT, MOST_FILES)
            except BundleError as error:
                wrong.append(f"{path}: {error}")
                continue
        found = next((folder / place for place in PLACES if (folder / place / "run.json").is_file()), None)
        task = _task(found / "run.json") if found is not None else None
        if found is None or task is None:
            wrong.append(f"{path}: expected the results of ingestion (run.json in it, in {', '.join(PLACES[1:])}).")
            continue
        runs.append(Run(name, found.resolve(), task))
    if wrong:
        raise BundleError(" ".join(wrong))
    return runs


def _names(paths: list[Path]) -> list[str]:
    """Name each run by its folder, or by as much of its path as makes it unique."""
    parts = [(*path.resolve().parent.parts, _title(path.resolve())) for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


def _title(path: Path) -> str:
    """Return the full name of a folder, such as `run.v2`, but that of a zip without its suffix."""
    return path.stem if path.suffix.lower() == ".zip" and path.is_file() else path.name


def _task(facts: Path) -> str | None:
    if facts.stat().st_size > LARGEST_FACTS:
        return None
    try:
        content = json.loads(facts.read_text("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
    task = content.get("task") if isinstance(content, dict) else None
    return task if isinstance(task, str) else None


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
    measured = scores.measured((moments, axes), RunNumbers(said.jury, said.failed, said.duration_s))
    return Entry(
        name=name,
        scores=scores,
        said=said,
        skill=float(credited_skill(axes.error, axes.baseline_error, axes.reference_error)[0]),
        points={one.key: float(np.ravel(one.compute(measured))[0]) for one in columns(scores.settings)},
        draws=column_values(scores, weights),
    )
