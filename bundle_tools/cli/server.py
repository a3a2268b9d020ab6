"""`bundle server`: the life of a challenge on a Codabench server."""

import argparse
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace as changed
from pathlib import Path

from tqdm import tqdm

from bundle_tools.cli.options import add_command, add_path, add_trust, positive
from bundle_tools.cli.rehearse import rehearse
from bundle_tools.cli.submissions import EVERY_S, delete, fetch, rerun, run_again, watch
from bundle_tools.codabench.build import NAME as SEAL_KEY
from bundle_tools.codabench.build import STAND_IN
from bundle_tools.codabench.competition import find_root, load, unpack_bundle
from bundle_tools.codabench.server import audit as auditing
from bundle_tools.codabench.server import publish as publishing
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server import replace as replacing
from bundle_tools.codabench.server.client import SECOND_VARIABLE, ServerConnection, log_in
from bundle_tools.codabench.server.records import PARTS, Address, ServerCompetition, ServerPhase
from bundle_tools.console import confirm, counted, progress_bar, say
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
    "watch": f"{_COMPETITION} --phase final",
    "rerun": f"{_COMPETITION} --phase final 1234 1235",
    "delete": f"{_COMPETITION} --phase final 1234",
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
    add_trust(rehearse)
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
    _add_phase(fetch)
    add_path(fetch, "--out", "DIR", "new, or of an earlier call", required=True)

    replace = _competition(
        actions, "replace", "Give a phase new programs or data, and run its submissions again.",
        "--bundle takes all four parts from a zip of `bundle build`: programs need the secret key, which the folders\n"
        "lack. Without any part, submissions with results of older parts are run again.",
    )  # fmt: skip
    _add_phase(replace)
    for part in ("ingestion-program", "scoring-program", "input-data", "reference-data"):
        add_path(replace, f"--{part}", "PATH", "the new one: a folder or a zip")
    add_path(replace, "--bundle", "ZIP", "all four, from a zip of `bundle build`, as when a stand-in ends")
    replace.add_argument("--no-rerun", action="store_true", help="leave the submissions as they are")
    _add_wait(replace)
    _add_yes(replace)

    watch = _competition(actions, "watch", "Show a phase's submissions again and again, and what to do about them.")
    _add_phase(watch)
    watch.add_argument("--every", metavar="S", type=positive, default=EVERY_S, help="default: every %(default)s s")
    watch.add_argument("--once", action="store_true", help="look only once")
    watch.add_argument(
        "--excuse", metavar="NUMBER", type=positive, nargs="+", default=[], help="submissions to do nothing about"
    )
    for name, what in (
        ("rerun", "Run submissions again, and delete their old runs, so that no old row remains."),
        ("delete", "Delete submissions, with their rows and files."),
    ):
        chosen = _competition(actions, name, what)
        _add_phase(chosen)
        chosen.add_argument("numbers", metavar="NUMBER", type=positive, nargs="+", help="submissions of the phase")
        if name == "rerun":
            _add_wait(chosen)
        _add_yes(chosen)


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = add_command(actions, f"server {name}", what, EXAMPLES[name], more)

    def act(arguments: argparse.Namespace) -> int:

        try:
            return ACTIONS[name](arguments)
        except (BundleError, OSError):
            raise
        except Exception as error:  # a server may answer anything, and a traceback would not help
            raise BundleError(
                f"the server answered something that this command does not understand ({type(error).__name__}: "
                f"{str(error)[:200]}). It is made for Codabench 1.25 and later."
            ) from error

    parser.set_defaults(action=act)
    return parser


def _competition(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = _action(actions, name, what, more)
    parser.add_argument("competition", metavar="COMPETITION", help="its address")
    return parser


def _add_phase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--phase", metavar="PHASE", required=True, help="such as practice or final")


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


def publish(arguments: argparse.Namespace) -> int:
    """Upload, wait, compare; print the link."""
    archive: Path = arguments.bundle
    if not archive.is_file():
        instead = "a folder" if archive.is_dir() else "no such file"
        raise BundleError(f"{archive}: expected a bundle, found {instead}. `bundle build` makes the zip.")
    connection = log_in(arguments.server)
    connection.call("GET", "/api/datasets/", page_size=1)  # so that a wrong token is reported first
    size = tqdm.format_sizeof(archive.stat().st_size, "B")
    confirm(
        [f"{archive} ({size}) becomes a competition on {connection.address}, which only its secret link opens."],
        yes=arguments.yes,
    )
    with progress_bar("Upload", "B") as progress:
        made = publishing.publish(connection, archive, progress=progress, say=say)
    if made.was_there:
        say("This zip was uploaded before, so nothing was uploaded now.")
    say(f"Competition: {made.link}")
    if made.differences is None:
        say("Version 1: the server has rewritten it, so it was not compared.")
        return 0
    for line in made.differences:
        say(f"  {line}")
    if made.differences:
        raise BundleError(
            f"{counted(len(made.differences), 'difference')} between the server and the bundle, as listed."
        )
    say("The server has everything as written. Next: bundle server rehearse, bundle server audit.")
    return 0


def audit(arguments: argparse.Namespace) -> int:
    """Request every private file as accounts that should not get it."""
    connection, address, competition = _open(arguments.competition)
    private = auditing.private_files(connection, competition)
    people = {"somebody who is not logged in": ServerConnection(address.server)}
    if token := os.environ.get(SECOND_VARIABLE, "").strip():
        second = ServerConnection(address.server, token)
        if "secret_key" in records.competition_content(second, address):
            raise BundleError(f"{SECOND_VARIABLE}: this account is an organiser too. Use one that has no role here.")
        people["somebody with another account"] = second
    else:
        say(f"Not tried as a second account: {SECOND_VARIABLE} holds no token.")
    leaks = auditing.try_all(private, address, people)
    for line in auditing.lines(leaks):
        say(line)
    if had := {leak.private for leak in leaks if leak.listed}:
        raise BundleError(
            f"{len(had)} of {len(private)} private files are open to others. Do not publish with them, unless "
            "those of a closed phase are a stand-in (`bundle build --stand-in`). docs/security.md tells more."
        )
    if leaks:
        say("Anybody with a key can get its file, but the server told no key to those tried here.")
    else:
        say(f"None of the {len(private)} private files is open to those tried here.")
    return 0


def replace(arguments: argparse.Namespace) -> int:
    """Upload parts, point the task to them, run the submissions again."""
    connection, _, competition = _open(arguments.competition)
    phase = competition.phase(arguments.phase)
    files: dict[str, Path] = {part: path for part in PARTS if (path := getattr(arguments, part)) is not None}
    with tempfile.TemporaryDirectory(prefix="bundle-replace-") as folder:
        if arguments.bundle is not None:
            files = _all_parts(arguments.bundle, phase, Path(folder, "bundle")) | files
        zips = replacing.packed(files, Path(folder))
        plan = [
            f"{part} of {phase.name} becomes {files[part]} ({tqdm.format_sizeof(path.stat().st_size, 'B')})."
            for part, path in zips.items()
        ]
        plan += [f"  {doubt}" for part, path in zips.items() for doubt in _doubts(part, path)]
        if not arguments.no_rerun:
            plan.append(
                f"Every submission to {phase.name} that ran on older parts is run again. Its old runs and outputs are "
                "deleted (save them first with `bundle server fetch`). Its owner sees the new run."
            )
        if not plan:
            raise BundleError("nothing to do: name a part, such as --reference-data PATH.")
        confirm(plan, yes=arguments.yes)
        with progress_bar("Upload", "B") as progress:
            since = replacing.put_in_place(connection, competition, phase, zips, progress)
    if zips:
        say(f"{phase.name} now uses the new parts.")
    if arguments.no_rerun:
        return 0
    replacing.settle(connection, phase, since, arguments.wait, say)
    old = replacing.old_runs(connection, phase, lambda run: run.is_older(since) and run.status != "Cancelled")
    if not old:
        say("No submission ran on older parts.")
        return 0
    return run_again(connection, competition, phase, old, arguments.wait)


def _all_parts(source: Path, phase: ServerPhase, scratch: Path) -> dict[str, Path]:
    """Return the parts of a phase in a bundle; raises BundleError for a stand-in, whose key is not secret."""
    unpack_bundle(source, scratch)
    task = load(find_root(scratch)).phase(phase.name).task
    parts: dict[str, Path] = {part: path for part in PARTS if (path := getattr(task, part)) is not None}
    program = parts.get("ingestion_program", scratch)
    key = program / SEAL_KEY
    if key.is_file() and key.read_text("ascii", "replace").startswith(STAND_IN):
        raise BundleError(f"--bundle {source}: was built with --stand-in, so its key is not secret. Build without it.")
    return parts


def _doubts(part: str, path: Path) -> list[str]:
    """Return oddities of a part of this challenge that a server would accept."""
    with zipfile.ZipFile(path) as opened:
        names = set(opened.namelist())
    if part in replacing.PROGRAMS:
        if SEAL_KEY in names:
            return []
        return ["WARNING: no seal.key in it, so reports will say unsealed. Take it from an unpacked dist/bundle.zip."]
    listed, other = ("clips.csv", "labels.csv") if part == "input_data" else ("labels.csv", "clips.csv")
    if "task.yaml" in names and (listed in names or other not in names):
        return []
    return [f"WARNING: expected task.yaml and {listed} at its top. Is it the right folder?"]


def _open(text: str) -> tuple[ServerConnection, Address, ServerCompetition]:
    address = Address.of(text)
    connection = log_in(address.server)
    competition = records.competition(connection, address)
    if competition.secret_key is None:  # the server shows it only to organisers
        raise BundleError(f"{competition.title}: the account of this token is no organiser of it.")
    return connection, changed(address, secret_key=competition.secret_key), competition


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "publish": publish,
    "rehearse": lambda arguments: rehearse(*_open(arguments.competition), arguments),
    "audit": audit,
    "fetch": lambda arguments: fetch(*_open(arguments.competition), arguments),
    "replace": replace,
    "watch": lambda arguments: watch(*_open(arguments.competition), arguments),
    "rerun": lambda arguments: rerun(*_open(arguments.competition), arguments),
    "delete": lambda arguments: delete(*_open(arguments.competition), arguments),
}
