"""Scores of simple methods and known submissions: written beside the labels of a phase, and into the pages."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.challenge.enough import LEAST_SKILL
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.challenge.reading.tables import read_settings, read_table
from bundle_tools.codabench.competition import Competition, Phase
from bundle_tools.codabench.competition import load as load_competition
from bundle_tools.codabench.keys import load
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import enter
from bundle_tools.programs import use_own_program, use_scoring_program
from bundle_tools.untrusted import read_text

DECIMALS = 4
RESAMPLES, SEED, LEVEL = 1000, 0, 0.95


def enter_skill_reference(competition: Competition, run: Path, scratch: Path) -> list[str]:
    """Write a run's mean absolute errors into the settings of every phase, as ``skill_reference``.

    `run`: run of the model that sets the reference, on a phase whose labels are in the bundle.
    Returns lines that say what was written.
    Raises BundleError when the run does not belong to this bundle, clips failed in it, or its errors are near those of
    the training mean: then whoever is barely better would earn the whole factor.
    """
    use_own_program("scoring_program")
    from score.metrics import percentile_interval, resample_weights  # noqa: PLC0415 - that program's

    (results,) = find_runs([run], scratch)
    folders = {phase.slug: phase.task.reference_data for phase in competition.phases}
    known = [folder for folder in folders.values() if folder is not None and folder.is_dir()]
    labelled = folders.get(results.task)
    if labelled not in known:
        names = ", ".join(folders)
        raise BundleError(f"{run}: expected a run of {names}, with folders as reference data; found {results.task}.")
    targets = (read_settings(DataFiles(labelled)) or {})["targets"]
    columns = [target["name"] for target in targets]
    labels, predicted = (
        _table(path, columns) for path in (labelled / "labels.csv", results.folder / "predictions.csv")
    )
    if missing := labels.keys() - predicted.keys():
        raise BundleError(f"{run}: {len(missing)} of {len(labels)} clips have no prediction. Fix the model first.")
    truth = np.array([[float(row[name]) for name in columns] for row in labels.values()])
    error = np.abs(truth - [[float(predicted[clip][name]) for name in columns] for clip in labels])
    baseline = np.abs(truth - [float(target["constant"]) for target in targets])
    people, person = np.unique([row["source_id"] for row in labels.values()], return_inverse=True)
    weights = np.concatenate([*resample_weights(len(people), RESAMPLES, SEED)])[:, person]
    skills = 1 - (weights @ error) / np.maximum(weights @ baseline, 1e-12)
    low, high = percentile_interval(skills.mean(axis=1), LEVEL)
    means, skill = error.mean(axis=0), 1 - error.mean(axis=0) / np.maximum(baseline.mean(axis=0), 1e-12)
    lines = [
        f"{name}: error {means[at]:.4g}, training mean {baseline[:, at].mean():.4g}, skill {skill[at]:.2f}"
        for at, name in enumerate(columns)
    ]
    lines.append(f"mean skill {skill.mean():.2f}, {low:.2f} to {high:.2f} (95 %, resampled people)")
    if low < LEAST_SKILL or skill.min() < LEAST_SKILL:
        raise BundleError(
            f"{run} cannot be the skill reference: it hardly beats the training mean, so whoever does would earn the "
            f"whole skill factor. Expected a skill of at least {LEAST_SKILL:g} for every target, and surely in the "
            f"mean; found {'; '.join(lines)}. Take a better model or more clips, or leave the reference out."
        )
    errors = {name: round(float(mean), DECIMALS) for name, mean in zip(columns, means, strict=True)}
    settings = [folder / "task.yaml" for folder in known]
    written = [path for path in settings if enter(path, {"skill_reference": errors})]
    return [*lines, *(f"Written: skill_reference in {path}" for path in written)]


def _table(path: Path, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read the rows of a table by clip, at least one; the columns hold numbers."""
    try:
        header, first, *rows = read_table(read_text(path))
        table = [dict(zip(header, row, strict=True)) for row in (first, *rows)]
        for row in table:
            for name in columns:
                float(row[name])
        return {row["clip_id"]: row for row in table}
    except (OSError, KeyError, ValueError) as error:
        raise BundleError(f"{path}: expected a table with clip_id and one number per target ({error}).") from error


FILE = "landmarks.json"
UNSEEN = "unseen.json"
"""In a solution's folder: what it predicts for people who were left out of its training."""


def compute_again(
    root: Path, names: list[str] | None, solutions: list[Path] | None, runs: list[Path], *, trust: bool
) -> None:
    """Compute the landmarks of some phases.

    `names`: phases; None: all whose reference data are a folder. `solutions`: submissions to run; None: those of
    `competition.yaml`, unless there are runs.
    """
    competition = load_competition(root, trust=trust)
    phases = (
        [competition.phase(name) for name in names]
        if names
        else [phase for phase in competition.phases if len(phase.tasks) == 1 and _file(phase) is not None]
    )
    if not phases:
        raise BundleError(f"{root}: expected a phase whose reference data are a folder with task.yaml; found none.")
    if solutions is None:
        solutions = [] if runs else solutions_of(root)
    for phase in phases:
        with tempfile.TemporaryDirectory(prefix="bundle-baselines-") as folder:
            say(f"Written: {update(competition, phase, solutions, runs, Path(folder))}")


def update(
    competition: Competition, phase: Phase, solutions: Sequence[Path], finished: Sequence[Path], scratch: Path
) -> Path:
    """Compute landmarks and write them beside the labels and into the pages.

    `phase`: its reference data must be a folder; the file is added to its settings if needed. Raises BundleError when a
    solution fails, a run belongs to another phase, or the files cannot be written.
    """
    path = _file(phase)
    if path is None:
        raise BundleError(f"{phase.task.reference_data}: expected a folder with task.yaml; found none.")
    runs = find_runs(
        [*finished, *(_run(competition, phase, path, scratch) for path in solutions)], scratch / "unpacked"
    )
    task = str((read_settings(DataFiles(path.parent)) or {}).get("task"))
    wrong = sorted(run.name for run in runs if run.task != task)
    if wrong:
        raise BundleError(f"{', '.join(wrong)}: expected runs of {task}. Run them on that phase.")
    use_scoring_program(phase, scratch)
    from bundle_tools.challenge.baselines import compute  # noqa: PLC0415 - imports that program

    unseen = [solution / UNSEEN for solution in solutions_of(competition.root) if (solution / UNSEEN).is_file()]
    record = compute(phase, runs, unseen, scratch)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if path.name == FILE:
        enter(path.with_name("task.yaml"), {"landmarks": FILE})
    for line in write_pages(competition.root, trust=phase.task.trusted):
        say(line)
    return path


def solutions_of(root: Path) -> list[Path]:
    """Return the folders of the solutions that `competition.yaml` lists."""
    solutions = load((root / "competition.yaml").read_text(encoding="utf-8-sig")).solutions or ()
    return [root / solution.path for solution in solutions if solution.path and (root / solution.path).exists()]


def _file(phase: Phase) -> Path | None:
    folder = phase.task.reference_data
    if folder is None or not folder.is_dir():
        return None
    settings = read_settings(DataFiles(folder))
    name = (settings or {}).get("landmarks", FILE)
    return folder / name if settings and isinstance(name, str) and Path(name).name == name else None


def _run(competition: Competition, phase: Phase, solution: Path, scratch: Path) -> Path:
    out = scratch / "runs" / solution.resolve().stem
    limit = limit_of(competition, phase, kill=False)
    for _, verdict in run_submission(competition, phase, solution, out, None, limit):
        if not verdict.good:
            raise BundleError(f"{solution}: {verdict.status}: {verdict.reason}. Correct it, or leave it out.")
    return out
