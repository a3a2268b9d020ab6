"""Score several runs with the bundle's own scoring program, on common resamples of the sources."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bundle_tools.archive import extract
from bundle_tools.compare.bands import Contender, bands, shares_above
from bundle_tools.compare.ranks import mean_ranks, places
from bundle_tools.compare.runs import Run
from bundle_tools.compare.table import Row
from bundle_tools.competition import Phase
from bundle_tools.errors import BundleError

if TYPE_CHECKING:
    from score.evaluation import ClipScores

Array = NDArray[np.float64]


def compare(phase: Phase, runs: Sequence[Run], resamples: int, scratch: Path) -> list[Row]:
    """Score runs, and put them in order.

    Parameters
    ----------
    phase
        Whose scoring program and reference data are used.
    runs
        At least one, all of this phase.
    resamples
        How many times the sources are drawn, >= 1.
    scratch
        A folder for temporary files.

    Returns
    -------
    list of Row
        Best total first.

    Raises
    ------
    BundleError
        When the phase lacks something, or with every run that cannot be scored and why.
    """
    program, reference = _unpacked(phase.task.scoring_program, scratch), _unpacked(phase.task.reference_data, scratch)
    if program is None or reference is None or not (program / "score" / "evaluation.py").is_file():
        raise BundleError(f"phase {phase.slug}: expected this project's scoring program and reference data.")
    if str(program) not in sys.path:
        # The organiser's own program; no file of a submission is ever imported.
        sys.path.insert(0, str(program))
    scores = _scored(runs, reference, scratch)
    from score.bootstrap import resample_weights  # noqa: PLC0415 - the path is known only now

    first = scores[0]
    for run, one in zip(runs, scores, strict=True):
        if one.clip_ids != first.clip_ids:
            raise BundleError(f"{run.name}: other clips than in {runs[0].name} could be decoded. Run both again.")
    groups = first.groups
    weights = np.concatenate(list(resample_weights(groups, resamples, first.settings.bootstrap.seed)))
    return rows([run.name for run in runs], scores, weights if groups > 1 else np.ones((1, groups)))


def rows(names: Sequence[str], scores: "Sequence[ClipScores]", weights: Array) -> list[Row]:
    """Judge runs whose clips are scored.

    Parameters
    ----------
    names
        One for each run, no two alike.
    scores
        What each run's columns are computed from; the same clips in all.
    weights
        (resamples, sources) how often each source was drawn; one row where there is nothing to draw.
    """
    from score.axes.total import credited_skill  # noqa: PLC0415
    from score.bootstrap import percentile_interval  # noqa: PLC0415
    from score.evaluation import column_values  # noqa: PLC0415

    settings = scores[0].settings
    axes = _applicable(scores[0])
    share = {axis: getattr(settings.explanation.weights, axis) for axis in axes}
    whole = sum(share.values()) or 1.0
    ones = np.ones((1, scores[0].groups))
    points = [{key: float(value[0]) for key, value in column_values(one, ones).items()} for one in scores]
    draws = [column_values(one, weights)["explanation"] for one in scores]
    skills = []
    for one in scores:
        sums = one.by_source()[1].weighted(ones)
        skills.append(float(credited_skill(sums.error, sums.baseline_error, sums.reference_error)[0]))
    arithmetic = [
        100 * point["coverage"] * skill * sum(share[axis] * point[axis] for axis in axes) / whole
        for point, skill in zip(points, skills, strict=True)
    ]
    # Skill and coverage count too: a model that predicts nothing may explain it well.
    judged = [
        [*(point[axis] for axis in axes), point["coverage"], skill] for point, skill in zip(points, skills, strict=True)
    ]
    ranks = mean_ranks(np.array(judged))
    contenders = [
        Contender(name, point["explanation"], drawn) for name, point, drawn in zip(names, points, draws, strict=True)
    ]
    above = shares_above(contenders)
    total_places = places([contender.total for contender in contenders])
    arithmetic_places, rank_places = places(arithmetic), places(-ranks)
    level = settings.bootstrap.level
    found = bands(contenders)
    result = {}
    for at, contender in enumerate(contenders):
        ends = percentile_interval(contender.draws, level) if len(weights) > 1 else None
        result[contender.name] = Row(
            name=contender.name,
            band=found[contender.name],
            place=total_places[at],
            total=contender.total,
            interval=(float(ends[0]), float(ends[1])) if ends else None,
            arithmetic=arithmetic[at],
            arithmetic_place=arithmetic_places[at],
            mean_rank=float(ranks[at]),
            mean_rank_place=rank_places[at],
            coverage=points[at]["coverage"],
            skill=skills[at],
            axes={axis: points[at][axis] for axis in axes},
            above={other.name: float(above[at, k]) for k, other in enumerate(contenders) if k != at},
        )
    return [result[name] for name in found]


def _applicable(scores: "ClipScores") -> list[str]:
    """Give the axes that the phase has: without known causes theirs is in no total."""
    from score.explanation_settings import AXES  # noqa: PLC0415

    return [axis for axis in AXES if axis != "known_causes" or scores.has_causes]


def _scored(runs: Sequence[Run], reference: Path, scratch: Path) -> "list[ClipScores]":
    from score.errors import ScoringError  # noqa: PLC0415
    from score.evaluation import clip_scores  # noqa: PLC0415
    from score.pipeline import prepare  # noqa: PLC0415

    scores, wrong = [], []
    for number, run in enumerate(runs):
        source = scratch / f"scored-{number}"
        source.mkdir()
        (source / "ref").symlink_to(reference.resolve())
        (source / "res").symlink_to(run.folder)
        try:
            prepared = prepare(source)
        except ScoringError as error:
            reasons = "; ".join(dict.fromkeys(problem.code for problem in error.problems))
            wrong.append(f"{run.name}: {error.headline} ({reasons})")
            continue
        scores.append(clip_scores(prepared.outcomes, prepared.settings))
    if wrong:
        raise BundleError(" ".join(wrong) + " Leave them out, or run them again.")
    return scores


def _unpacked(path: Path | None, scratch: Path) -> Path | None:
    if path is None or path.is_dir():
        return path
    folder = scratch / path.stem
    extract(path, folder)
    return folder
