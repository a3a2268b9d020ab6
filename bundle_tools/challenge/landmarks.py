"""Scores of simple methods and known submissions: written beside the labels of a phase, and into the pages."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.challenge.reading.tables import read_settings, read_table
from bundle_tools.codabench.competition import Competition, Phase
from bundle_tools.codabench.competition import load as load_competition
from bundle_tools.codabench.keys import load
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import enter
from bundle_tools.programs import use_scoring_program
from bundle_tools.untrusted import read_text

DECIMALS = 4


def enter_skill_reference(competition: Competition, run: Path, scratch: Path) -> tuple[Mapping[str, float], list[Path]]:
    """Write a run's mean absolute errors into the settings of every phase, as ``skill_reference``.

    `run`: run of the model that sets the reference, on a phase whose labels are in the bundle.
    Returns `errors`: by target, on its own scale.
    Returns `changed`: the settings files that were changed.
    Raises BundleError when the run does not belong to this bundle, or clips failed in it.
    """
    (found,) = find_runs([run], scratch)
    folders = {phase.slug: phase.task.reference_data for phase in competition.phases}
    known = [folder for folder in folders.values() if folder is not None and folder.is_dir()]
    labelled = folders.get(found.task)
    if labelled not in known:
        names = ", ".join(folders)
        raise BundleError(f"{run}: expected a run of {names}, with folders as reference data; found {found.task}.")
    labels = _numbers(labelled / "labels.csv")
    predicted = _numbers(found.folder / "predictions.csv")
    if missing := labels.keys() - predicted.keys():
        raise BundleError(f"{run}: {len(missing)} of {len(labels)} clips have no prediction. Fix the model first.")
    targets = [name for name in next(iter(predicted.values()), {}) if name in next(iter(labels.values()))]
    errors = {
        name: round(sum(abs(predicted[clip][name] - row[name]) for clip, row in labels.items()) / len(labels), DECIMALS)
        for name in targets
    }
    settings = [folder / "task.yaml" for folder in known]
    return errors, [path for path in settings if enter(path, {"skill_reference": errors})]


def _numbers(path: Path) -> dict[str, dict[str, float]]:
    """Read a table by clip, with at least one row."""
    try:
        header, first, *rows = read_table(read_text(path))
        cells = [dict(zip(header, row, strict=True)) for row in (first, *rows)]
        keys = [name for name in header if name not in ("clip_id", "source_id")]
        return {row["clip_id"]: {name: float(row[name]) for name in keys} for row in cells}
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
    runs = find_runs([*finished, *(_run(competition, phase, one, scratch) for one in solutions)], scratch / "unpacked")
    task = str((read_settings(Dataset(path.parent)) or {}).get("task"))
    wrong = sorted(run.name for run in runs if run.task != task)
    if wrong:
        raise BundleError(f"{', '.join(wrong)}: expected runs of {task}. Run them on that phase.")
    use_scoring_program(phase, scratch)
    from bundle_tools.challenge.baselines import compute  # noqa: PLC0415 - imports that program

    unseen = [one / UNSEEN for one in solutions_of(competition.root) if (one / UNSEEN).is_file()]
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
    return [root / one.path for one in solutions if one.path and (root / one.path).exists()]


def _file(phase: Phase) -> Path | None:
    folder = phase.task.reference_data
    if folder is None or not folder.is_dir():
        return None
    settings = read_settings(Dataset(folder))
    name = (settings or {}).get("landmarks", FILE)
    return folder / name if settings and isinstance(name, str) and Path(name).name == name else None


def _run(competition: Competition, phase: Phase, solution: Path, scratch: Path) -> Path:
    out = scratch / "runs" / solution.resolve().stem
    limit = limit_of(competition, phase, kill=False)
    for _, verdict in run_submission(competition, phase, solution, out, None, limit):
        if not verdict.good:
            raise BundleError(f"{solution}: {verdict.status}: {verdict.reason}. Correct it, or leave it out.")
    return out
