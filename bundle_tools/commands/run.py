"""`bundle run`: one submission, from its folder or zip to its row on the leaderboard."""

import argparse
from pathlib import Path

from bundle_tools.commands.options import add_bundle
from bundle_tools.competition import find_root, load
from bundle_tools.console import say
from bundle_tools.emulator.engine import DockerEngine, Engine, ProcessEngine
from bundle_tools.emulator.run import run_submission
from bundle_tools.emulator.scores import row


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    run = commands.add_parser("run", prog="bundle run", help="run a submission as Codabench would")
    run.add_argument("submission", type=Path, help="a folder with model.py, or its zip")
    run.add_argument("--phase", default="practice", help="name of the phase (default: practice)")
    run.add_argument("--out", type=Path, help="folder of the results (default: runs/<submission>-<phase>)")
    add_bundle(run)
    run.add_argument("--engine", choices=("process", "docker"), default="process", help="where the programs run")
    run.add_argument("--image", help="image of the docker engine (default: the one in competition.yaml)")
    run.add_argument("--network", action="store_true", help="docker engine: let the containers reach the network")
    run.set_defaults(action=_run)


def _run(arguments: argparse.Namespace) -> int:
    competition = load(find_root(arguments.bundle))
    phase = competition.phase(arguments.phase)
    submission: Path = arguments.submission
    out: Path = arguments.out or Path("runs") / f"{submission.resolve().stem}-{phase.slug}"
    engine: Engine = ProcessEngine()
    if arguments.engine == "docker":
        engine = DockerEngine(arguments.image or competition.docker_image, arguments.network)
    result = run_submission(competition, phase, submission, out, engine)
    say()
    say(f"Leaderboard row ({phase.name})")
    for line in row(result.scores, competition.columns):
        say(line)
    if result.report is not None:
        say(f"Report: {result.report}")
    elif competition.detailed_results:
        say("Warning: no detailed_results.html, so the platform would show no report.")
    return 0
