"""The `bundle` command."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from bundle_tools.cli.options import Parser
from bundle_tools.console import from_here, visible
from bundle_tools.errors import BundleError

DESCRIPTION = """\
Make, run and keep a Codabench challenge in which models explain themselves.

Write a submission
  run SUBMISSION [--phase practice] [--open]       run a submission as Codabench would, and score it
  submission check | pack SUBMISSION               list every problem of a submission; write its zip
  compare RUN RUN ... [--html FILE]                say which runs are better by more than luck

Evaluate on many cores or machines
  evaluate SUBMISSION ... --out DIR [--workers N]  all of them, with the results of run; goes on where it stopped

Make a challenge
  data from-folder --clips DIR --labels FILE --out DIR   a whole bundle of your own clips and labels
  data filmed-example FOLDER [--clips DIR]         such a bundle with scores from films of real people, to try it
  data first-impressions | observations            the same from ChaLearn First Impressions V2
  data phase PHASE [--clips N] [--replace]         new synthetic clips and labels of a phase, from a secret seed
  data baselines [--skill-reference RUN]           what simple methods reach; what earns a skill factor of 1
  data faces | exchanges | key-frames PHASE        where faces are; exchanged parts; pictures for reports
  data canonical FOLDER                            clips put in by hand as models must get them
  data synth | committed                           a set of synthetic clips; the data of this repository
  pages [--check]                                  bring the figures on pages and guides up to date
  check [PATH]                                     list everything that is wrong with a bundle (folder or zip)
  build [--out FILE]                               check, then write the zip to upload

Run it on a server
  server publish | rehearse | audit                upload it, try it there, look for leaks
  server watch | fetch | rerun | delete | replace  submissions, and new programs or data
  report RUN [--full]                              make the report of a run again; complete, for organisers

Decide who wins
  jury make | score                                pages for a blind jury; its result
  coopetition RUN RUN ...                          who built on whom, and how useful that was
  convert SOURCE --out DIR                         the files of 2017 as records

SUBMISSION is a folder with model.py, or its zip; RUN a folder of `bundle run`. `bundle COMMAND --help` has an example
and all options; `bundle --version` prints the version.
"""


COMMANDS = {
    **{name: f"bundle.add_{name}" for name in ("build", "check", "pages")},
    "data": "data.add",
    "server": "server.add",
    **{name: f"run.add_{name}" for name in ("run", "submission")},
    **{name: f"results.add_{name}" for name in ("report", "compare", "coopetition", "convert")},
    "jury": "jury.add",
    "evaluate": "evaluate.add",
}
"""Name of a command -> the function that adds it. Only the requested command's module is imported."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns 0 on success; 1 on failure, with the reason on the last line; 130 when interrupted.
    """
    if argv is None:  # a signal ends it like Ctrl-C, including all child processes
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser(next(iter(words), "")).parse_args(words or ["--help"])
    try:
        return int(arguments.action(arguments))
    except BundleError as error:
        sys.stderr.write(f"bundle: {visible(from_here(str(error)))}\n")
        return 1
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        sys.stderr.write(f"bundle: {error.filename or 'this machine'}: {error.strerror or error}.\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("bundle: interrupted.\n")
        return 130


class _Version(argparse.Action):
    """Prints the version; looking it up takes longer than the rest of a help text."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415 - see above

        sys.stdout.write(f"bundle {version('first-impressions-explained')}\n")
        parser.exit()


def _parser(command: str) -> argparse.ArgumentParser:
    parser = Parser(
        prog="bundle",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
        add_help=False,
    )
    # Not listed: the description ends with it, and all commands fit on a screen.
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    parser.add_argument("--version", nargs=0, action=_Version, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", help=argparse.SUPPRESS)
    for name, target in COMMANDS.items():
        if name == command:
            module, _, function = target.rpartition(".")
            getattr(importlib.import_module(f"bundle_tools.cli.{module}"), function)(commands)
        else:
            commands.add_parser(name)
    return parser


if __name__ == "__main__":
    sys.exit(main())
