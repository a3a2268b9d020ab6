"""The error that earns a skill factor of 1: that of the organisers' best model."""

import csv
from collections.abc import Mapping
from pathlib import Path

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.codabench.competition import Competition
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.entering import enter

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
    """Read a table by clip; cells that are not numbers are left out."""
    found: dict[str, dict[str, float]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                cells = {name: text for name, text in row.items() if name not in ("clip_id", "source_id")}
                found[row["clip_id"]] = {name: float(text) for name, text in cells.items()}
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BundleError(f"{path}: expected a table with clip_id and one number per target ({error}).") from error
    if not found:
        raise BundleError(f"{path}: expected one row per clip; found none.")
    return found
