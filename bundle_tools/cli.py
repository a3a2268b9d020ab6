"""The `bundle` command."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bundle_tools.competition import find_root, load
from bundle_tools.console import say
from bundle_tools.emulator.engine import DockerEngine, Engine, ProcessEngine
from bundle_tools.emulator.run import run_submission
from bundle_tools.emulator.scores import row
from bundle_tools.errors import BundleError

DESCRIPTION = """\
Run, check and build the competition bundle.

  bundle run SUBMISSION [--phase practice] [--out DIR]   run a submission as Codabench would; print its leaderboard row
  bundle check [PATH]                                    tell everything that is wrong with a bundle (folder or zip)
  bundle build [--out dist/bundle.zip]                   check, then write the zip to upload
  bundle data synth --clips N --seed S --out DIR         make a labelled set of synthetic clips
  bundle data committed                                  make the committed data again

SUBMISSION is a folder with model.py, or its zip. `bundle COMMAND --help` tells the other options.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    int
        0 when it did what was asked; 1 when not, with the reason on the last line; 130 when interrupted.
    """
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.action(arguments))
    except BundleError as error:
        sys.stderr.write(f"bundle: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("bundle: interrupted.\n")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bundle",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", help=argparse.SUPPRESS)

    run = commands.add_parser("run", prog="bundle run", help="run a submission as Codabench would")
    run.add_argument("submission", type=Path, help="a folder with model.py, or its zip")
    run.add_argument("--phase", default="practice", help="name of the phase (default: practice)")
    run.add_argument("--out", type=Path, help="folder of the results (default: runs/<submission>-<phase>)")
    run.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")
    run.add_argument("--engine", choices=("process", "docker"), default="process", help="where the programs run")
    run.add_argument("--image", help="image of the docker engine (default: the one in competition.yaml)")
    run.add_argument("--network", action="store_true", help="docker engine: let the containers reach the network")
    run.set_defaults(action=_run)
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
