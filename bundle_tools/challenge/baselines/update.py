"""Update a phase's landmarks: run the solutions, compute, write the file and the pages."""

import json
from collections.abc import Sequence
from pathlib import Path

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.challenge.reading.tables import read_settings
from bundle_tools.challenge.scoring_program import use_scoring_program
from bundle_tools.codabench.competition import Competition, Phase
from bundle_tools.codabench.keys import load
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.entering import enter

FILE = "landmarks.json"
UNSEEN = "unseen.json"
"""In a solution's folder: what it predicts for people who were left out of its training."""


def phases_with_folders(competition: Competition) -> list[Phase]:
    """Return the phases whose reference data are a folder of this challenge."""
    return [phase for phase in competition.phases if len(phase.tasks) == 1 and _file(phase) is not None]


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
    from bundle_tools.challenge.baselines.compute import compute  # noqa: PLC0415 - imports that program

    unseen = [one / UNSEEN for one in solutions_of(competition.root) if (one / UNSEEN).is_file()]
    record = compute(phase, runs, unseen, scratch)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if path.name == FILE:
        enter(path.with_name("task.yaml"), {"landmarks": FILE})
    for line in write_pages(competition.root):
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
