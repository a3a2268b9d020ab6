"""`bundle data baselines`: scores of simple methods and example solutions, for reports and pages."""

import argparse
import tempfile
from pathlib import Path

from bundle_tools.challenge.baselines.update import phases_with_folders, solutions_of, update
from bundle_tools.cli.options import add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.console import say
from bundle_tools.errors import BundleError


def add_baselines(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the kind of data."""
    baselines = add_command(
        kinds, "data baselines", "Compute the scores of simple methods and of the solutions, for reports and pages.",
        "\n--phase practice --run runs/best-practice",
    )  # fmt: skip
    baselines.add_argument(
        "--phase", metavar="PHASE", action="append", help="default: every phase with folders as data"
    )
    add_path(
        baselines, "--solution", "DIR", action="append",
        what="a submission to run (default: the solutions of competition.yaml, unless --run is given)",
    )  # fmt: skip
    add_path(baselines, "--run", "RUN", action="append", default=[],
             what="a submission that was run already: the folder of `bundle run`")  # fmt: skip
    add_bundle(baselines)
    baselines.set_defaults(action=_baselines)


def _baselines(arguments: argparse.Namespace) -> int:
    compute_again(find_root(arguments.bundle), arguments.phase, arguments.solution, arguments.run)
    return 0


def compute_again(root: Path, names: list[str] | None, solutions: list[Path] | None, runs: list[Path]) -> None:
    """Compute the landmarks of some phases.

    `names`: phases; None: all whose reference data are a folder. `solutions`: submissions to run; None: those of
    `competition.yaml`, unless there are runs.
    """
    competition = load(root)
    phases = [competition.phase(name) for name in names] if names else phases_with_folders(competition)
    if not phases:
        raise BundleError(f"{root}: expected a phase whose reference data are a folder with task.yaml; found none.")
    if solutions is None:
        solutions = [] if runs else solutions_of(root)
    for phase in phases:
        with tempfile.TemporaryDirectory(prefix="bundle-baselines-") as folder:
            say(f"Written: {update(competition, phase, solutions, runs, Path(folder))}")
