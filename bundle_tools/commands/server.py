"""`bundle server`: the life of a challenge on a Codabench server."""

import argparse
from pathlib import Path

from bundle_tools.commands.options import positive

ENDING = """\
COMPETITION is its address as the browser shows it, with ?secret_key=... while it is not published. The token of your
account is read from CODABENCH_TOKEN, or asked for; it is never stored. What changes something says so and asks first:
--yes answers. Every command can be called again after an interruption, and goes on.
"""
DEFAULT_BUNDLE = Path("dist") / "bundle.zip"
WAIT_S = 3600


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    server = commands.add_parser(
        "server", prog="bundle server", help="upload a bundle, try it there, keep it running", epilog=ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    actions = server.add_subparsers(required=True, metavar="ACTION")
    publish = _action(actions, "publish", "upload a bundle; print the secret link of the competition it becomes")
    publish.add_argument("server", metavar="SERVER", help="such as https://www.codabench.org")
    publish.add_argument(
        "--bundle", metavar="ZIP", type=Path, default=DEFAULT_BUNDLE, help="default: %(default)s, of `bundle build`"
    )
    _add_yes(publish)

    rehearse = _competition(actions, "rehearse", "submit the solutions; compare each column with a run at home")
    rehearse.add_argument("--submission", metavar="PATH", type=Path, action="append", default=[],
                          help="a folder or a zip (default: the solutions of the bundle); may be repeated")  # fmt: skip
    rehearse.add_argument("--bundle", metavar="ZIP", type=Path, default=DEFAULT_BUNDLE,
                          help="what was uploaded (default: %(default)s)")  # fmt: skip
    rehearse.add_argument("--phase", metavar="NAME", action="append", help="default: all; may be repeated")
    rehearse.add_argument(
        "--engine", choices=("process", "docker"), default="process", help="at home; default: process"
    )
    rehearse.add_argument("--wait", metavar="S", type=positive, default=WAIT_S, help="at most; default: %(default)s")
    _add_yes(rehearse)

    _competition(
        actions, "audit", "tell which private files can be had by others",
        "A second account, of somebody who has nothing to do with the challenge, comes from CODABENCH_SECOND_TOKEN.",
    )  # fmt: skip

    fetch = _competition(actions, "fetch", "bring all submissions of a phase here, with outputs, reports and logs")
    fetch.add_argument("--phase", metavar="NAME", required=True)
    fetch.add_argument("--out", metavar="DIR", type=Path, required=True, help="new, or of an earlier call")

    replace = _competition(
        actions, "replace", "give a phase new programs or data; run its submissions again",
        "Each part is a folder or a zip. Take both programs from one build: they share a secret key. Without any part, "
        "only the submissions that ran on replaced parts are run again.",
    )  # fmt: skip
    replace.add_argument("--phase", metavar="NAME", required=True)
    for part in ("ingestion-program", "scoring-program", "input-data", "reference-data"):
        replace.add_argument(f"--{part}", metavar="PATH", type=Path)
    replace.add_argument("--no-rerun", action="store_true", help="leave the submissions as they are")
    _add_yes(replace)

    board = _competition(actions, "board", "show a leaderboard, with what is wrong with its rows")
    board.add_argument("--phase", metavar="NAME", required=True)


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = actions.add_parser(
        name, prog=f"bundle server {name}", help=what, description=f"{what[0].upper()}{what[1:]}. {more}".strip()
    )

    def act(arguments: argparse.Namespace) -> int:
        from bundle_tools.commands import on_server  # noqa: PLC0415 - loads the HTTP client

        return int(getattr(on_server, name)(arguments))

    parser.set_defaults(action=act)
    return parser


def _competition(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = _action(actions, name, what, more)
    parser.add_argument("competition", metavar="COMPETITION", help="its address")
    return parser


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
