"""`bundle server`: the life of a challenge on a Codabench server."""

import argparse
from pathlib import Path

from bundle_tools.cli.options import add_command, add_path, positive
from bundle_tools.cli.server import on_server
from bundle_tools.errors import BundleError

ENDING = """\
COMPETITION is its address as the browser shows it, in quotes, with ?secret_key=... while it is not published. The token
of your account comes from CODABENCH_TOKEN; without one you are asked for name and password, or a token. Nothing is
stored. Commands that change something ask first; --yes answers. After an interruption, repeat the command.
"""
DEFAULT_BUNDLE = Path("dist") / "bundle.zip"
WAIT_S = 3600
_COMPETITION = '"https://www.codabench.org/competitions/1234/?secret_key=..."'
EXAMPLES = {
    "publish": "https://www.codabench.org",
    "rehearse": f"{_COMPETITION} --phase practice",
    "audit": _COMPETITION,
    "fetch": f"{_COMPETITION} --phase final --out final",
    "replace": f"{_COMPETITION} --phase final --reference-data reference_data/final",
    "board": f"{_COMPETITION} --phase final",
}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    server = add_command(
        commands, "server", "Upload a bundle to a Codabench server, try it there, and keep it running.",
        "publish https://www.codabench.org", ENDING,
    )  # fmt: skip
    actions = server.add_subparsers(required=True, metavar="COMMAND")
    publish = _action(
        actions, "publish", "Upload a bundle, and print the secret link of the competition that it becomes."
    )
    publish.add_argument("server", metavar="SERVER", help="such as https://www.codabench.org")
    add_path(publish, "--bundle", "ZIP", "default: %(default)s, of `bundle build`", default=DEFAULT_BUNDLE)
    _add_yes(publish)

    rehearse = _competition(actions, "rehearse", "Submit the solutions, and compare each column with a run at home.")
    add_path(rehearse, "--submission", "SUBMISSION", action="append", default=[],
             what="folder or zip (default: the solutions of the bundle); may be repeated")  # fmt: skip
    add_path(rehearse, "--bundle", "ZIP", "what was uploaded (default: %(default)s)", default=DEFAULT_BUNDLE)
    rehearse.add_argument("--phase", metavar="PHASE", action="append", help="default: all; may be repeated")
    rehearse.add_argument(
        "--engine", choices=("process", "docker"), default="process", help="at home; default: process"
    )
    _add_wait(rehearse)
    _add_yes(rehearse)

    _competition(
        actions, "audit", "List the private files that others can get.",
        "A second account, of somebody who has nothing to do with the challenge, comes from CODABENCH_SECOND_TOKEN.",
    )  # fmt: skip

    fetch = _competition(actions, "fetch", "Fetch all submissions of a phase, with outputs, reports and logs.")
    fetch.add_argument("--phase", metavar="PHASE", required=True, help="such as practice or final")
    add_path(fetch, "--out", "DIR", "new, or of an earlier call", required=True)

    replace = _competition(
        actions, "replace", "Give a phase new programs or data, and run its submissions again.",
        "Take programs from an unpacked dist/bundle.zip: they share a secret key that the folders lack. Without any\n"
        "part, submissions with results of older parts are run again.",
    )  # fmt: skip
    replace.add_argument("--phase", metavar="PHASE", required=True, help="such as practice or final")
    for part in ("ingestion-program", "scoring-program", "input-data", "reference-data"):
        add_path(replace, f"--{part}", "PATH", "the new one: a folder or a zip")
    replace.add_argument("--no-rerun", action="store_true", help="leave the submissions as they are")
    _add_wait(replace)
    _add_yes(replace)

    board = _competition(actions, "board", "Show a leaderboard, and the problems of its rows.")
    board.add_argument("--phase", metavar="PHASE", required=True, help="such as practice or final")


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = add_command(actions, f"server {name}", what, EXAMPLES[name], more)

    def act(arguments: argparse.Namespace) -> int:

        try:
            return int(getattr(on_server, name)(arguments))
        except (BundleError, OSError):
            raise
        except Exception as error:  # a server may answer anything, and a traceback would not help
            raise BundleError(
                f"the server answered something that this command does not understand ({type(error).__name__}: "
                f"{str(error)[:200]}). It is made for Codabench 1.25."
            ) from error

    parser.set_defaults(action=act)
    return parser


def _competition(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = _action(actions, name, what, more)
    parser.add_argument("competition", metavar="COMPETITION", help="its address")
    return parser


def _add_wait(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        metavar="S",
        type=positive,
        default=WAIT_S,
        help="seconds to wait for the server (default: %(default)s)",
    )


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
