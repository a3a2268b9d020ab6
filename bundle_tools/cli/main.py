"""The `bundle` command."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from bundle_tools.console import visible
from bundle_tools.errors import BundleError

DESCRIPTION = """\
Run, check and build the competition bundle.

  bundle run SUBMISSION [--phase practice] [--out DIR]   run a submission as Codabench would; print its leaderboard row
  bundle check [PATH]                                    tell everything that is wrong with a bundle (folder or zip)
  bundle pages [--check]                                 bring figures on pages and guides up to date with settings
  bundle build [--out dist/bundle.zip]                   check, then write the zip to upload
  bundle launch [--datasheet FILE]                       what has to be settled before the event begins
  bundle compare RUN RUN ... [--html FILE]               tell which runs are better by more than luck
  bundle report RUN [--full]                             make the report of a run again; complete, for organisers
  bundle jury make RUN RUN ... --out DIR                 write one page a juror, to rate explanations blind
  bundle jury score FILE ... --key KEY --out DIR         read the ratings; write the result and its report
  bundle coopetition RUN RUN ... [--html FILE]           tell who built on whom, and how useful that was
  bundle convert SOURCE --out DIR [--light]              write the files of 2017 from a run, or records from those
  bundle submission check | pack SUBMISSION [--run 3]    tell what is wrong with a submission, try 3 clips; pack it
  bundle data synth --clips N --seed S --out DIR         make a labelled set of synthetic clips
  bundle data phase NAME [--clips N] [--replace]         make new clips and labels of a phase, with a secret seed
  bundle data baselines | key-frames PHASE               what simple methods reach; a picture of each clip, for reports
  bundle data faces | skill-reference RUN                where faces are in filmed clips; what earns full credit
  bundle data committed                                  make the data of this repository again
  bundle data first-impressions | observations           ChaLearn First Impressions V2; what people pointed at in it
  bundle data from-folder --clips DIR --labels CSV --out DIR   a whole bundle of your own clips and labels
  bundle server publish | rehearse | audit | fetch | replace | board   the life of a challenge on a Codabench server

SUBMISSION is a folder with model.py, or its zip. `bundle COMMAND --help` tells the other options.
"""


COMMANDS = {
    "build": "build",
    "check": "check",
    "pages": "pages",
    "launch": "launch",
    "data": "data.data",
    "server": "server.server",
    **{name: f"runs.{name}" for name in ("run", "report", "submission", "compare", "coopetition", "convert", "jury")},
}
"""Name of a command -> its module. Only that of the command which is asked for is imported, with all that it needs."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    int
        0 when it did what was asked; 1 when not, with the reason on the last line; 130 when interrupted.
    """
    if argv is None:  # ended from outside as by a key: what it started goes with it
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser(next(iter(given), "")).parse_args(given or ["--help"])
    try:
        return int(arguments.action(arguments))
    except BundleError as error:
        sys.stderr.write(f"bundle: {visible(str(error))}\n")
        return 1
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        sys.stderr.write(f"bundle: {error.filename or 'this machine'}: {error.strerror or error}.\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("bundle: interrupted.\n")
        return 130


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bundle",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
        add_help=False,
    )
    # Not listed: the description ends with it, and all commands fit on a screen.
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", help=argparse.SUPPRESS)
    for name, module in COMMANDS.items():
        if name == command:
            importlib.import_module(f"bundle_tools.cli.{module}").add(commands)
        else:
            commands.add_parser(name)
    return parser


if __name__ == "__main__":
    sys.exit(main())
