"""`bundle coopetition`: who built on whom, and how useful it was."""

import argparse
import json
import tempfile
from pathlib import Path

from bundle_tools.challenge.compare.runs import expand, find_runs
from bundle_tools.challenge.coopetition import lines, read_teams, read_works, record
from bundle_tools.challenge.scoring_program import use_scoring_program
from bundle_tools.cli.options import RUN, add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.console import say
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    coopetition = add_command(
        commands, "coopetition", "Measure how useful each submission was to others.", "final --teams teams.csv"
    )
    add_path(coopetition, "runs", "RUN", RUN, nargs="+")
    add_path(
        coopetition, "--shared", "RUN", nargs="+", default=[],
        what="runs of other phases that these may credit; they receive points and pass them on, but give none",
    )  # fmt: skip
    add_path(coopetition, "--teams", "FILE", "a table of lines `run,team`: credits within a team do not count")
    coopetition.add_argument(
        "--baseline", metavar="SCORE", type=float, default=0.0,
        help="explanation score above which a submission leads (default: 0, the constant's score)",
    )  # fmt: skip
    coopetition.add_argument("--json", action="store_true", help="print the result as JSON")
    add_bundle(coopetition)
    coopetition.set_defaults(action=_coopetition)


def _coopetition(arguments: argparse.Namespace) -> int:
    competition = load(find_root(arguments.bundle))
    teams = read_teams(arguments.teams) if arguments.teams else {}
    with tempfile.TemporaryDirectory(prefix="bundle-coopetition-") as folder:
        scratch = Path(folder)
        own = expand(arguments.runs)
        found = find_runs([*own, *arguments.shared], scratch)
        runs, shared = found[: len(own)], found[len(own) :]
        tasks = sorted({run.task for run in runs})
        if len(tasks) > 1:
            raise BundleError(
                f"expected runs of one phase, found {', '.join(tasks)}. "
                "Name those whose scores count first, and runs of other phases after --shared."
            )
        same = sorted(run.name for run in shared if run.task == tasks[0])
        if same:
            raise BundleError(
                f"--shared {', '.join(same)}: runs of the phase {tasks[0]} itself. Name them before --shared."
            )
        unknown = sorted(teams.keys() - {run.name for run in found})
        if unknown:
            raise BundleError(
                f"{arguments.teams}: {', '.join(unknown)}: none of these runs. Use the names of the runs."
            )
        teamless = sorted({run.name for run in found} - teams.keys()) if shared else []
        if teamless:  # credits within a team must not count
            raise BundleError(
                f"--shared needs a team for every run, in a table for --teams; without one: {', '.join(teamless)}."
            )
        phase = competition.phase(tasks[0])
        use_scoring_program(phase, scratch)
        from bundle_tools.challenge.compare.field import TOTAL, score_field  # noqa: PLC0415 - imports that program

        field = score_field(phase, runs, 1, scratch)
        for task in sorted({run.task for run in shared}):  # scores need no check: scoring detects changed runs
            checked = scratch / f"shared-{task}"
            checked.mkdir()
            score_field(competition.phase(task), [run for run in shared if run.task == task], 1, checked)
        totals = {entry.name: entry.points[TOTAL] for entry in field.entries}
        works, remarks = read_works(found, totals, teams)
    if arguments.json:
        say(json.dumps(record(works, arguments.baseline, remarks), indent=2))
        return 0
    for line in lines(works, arguments.baseline, remarks):
        say(line)
    return 0
