"""`bundle server`: the life of a challenge on a Codabench server."""

import argparse
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace as changed
from pathlib import Path

from bundle_tools.challenge.compare.runs import LARGEST_FACTS, LARGEST_OUTPUT, MOST_FILES
from bundle_tools.cli.options import add_command, add_path, add_trust, positive
from bundle_tools.codabench.archive import extract, zip_folder
from bundle_tools.codabench.competition import Competition as Bundle
from bundle_tools.codabench.competition import find_root, load, unpack_bundle
from bundle_tools.codabench.keys import load as read_keys
from bundle_tools.codabench.server import audit as auditing
from bundle_tools.codabench.server import publish as publishing
from bundle_tools.codabench.server import records, submissions
from bundle_tools.codabench.server import rehearse as rehearsing
from bundle_tools.codabench.server import replace as replacing
from bundle_tools.codabench.server.client import SECOND_VARIABLE, ServerConnection, log_in
from bundle_tools.codabench.server.records import PARTS, Address, ServerCompetition, ServerPhase
from bundle_tools.codabench.trust import code_of, ensure_trusted
from bundle_tools.codabench.worker.engine import Docker
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import confirm, counted, progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import read_json

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
            return ACTIONS[name](arguments)
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


def publish(arguments: argparse.Namespace) -> int:
    """Upload, wait, compare; print the link."""
    archive: Path = arguments.bundle
    if not archive.is_file():
        instead = "a folder" if archive.is_dir() else "no such file"
        raise BundleError(f"{archive}: expected a bundle, found {instead}. `bundle build` makes the zip.")
    connection = log_in(arguments.server)
    connection.call("GET", "/api/datasets/", page_size=1)  # so that a wrong token is reported first
    size = archive.stat().st_size / 1e6
    confirm(
        [f"{archive} ({size:.1f} MB) becomes a competition on {connection.address}, which only its secret link opens."],
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


def rehearse(arguments: argparse.Namespace) -> int:
    """Submit, run at home meanwhile, wait, compare."""
    connection, address, competition = _open(arguments.competition)
    with tempfile.TemporaryDirectory(prefix="bundle-rehearse-") as folder:
        scratch = Path(folder)
        bundle = _unpacked(arguments.bundle, scratch / "bundle", trust=arguments.trust)
        ensure_trusted(code_of([task for phase in bundle.phases for task in phase.tasks]))
        acts = _acts(bundle, competition, arguments, scratch)
        confirm(
            [f"Submits to {competition.title}, as {counted(len(acts), 'submission')} of your own:"]
            + [f"  {act.title}{_closed(act.phase, connection)}" for act in acts],
            yes=arguments.yes,
        )
        rehearsing.register(connection, address)
        numbers = [rehearsing.submit(connection, competition, act, say) for act in acts]
        say("At home:")
        expected = [_at_home(bundle, act, scratch / f"run-{number}", arguments) for number, act in enumerate(acts)]
        say("On the server:")
        titles = {number: act.title for number, act in zip(numbers, acts, strict=True)}
        ended = rehearsing.wait(connection, titles, competition.columns, arguments.wait, say)
    wrong = 0
    lacking: dict[str, None] = {}
    for number, act, here in zip(numbers, acts, expected, strict=True):
        record = _record(connection, number)
        lacking |= dict.fromkeys(rehearsing.missing_limits(_part(record, "container")))
        lines = rehearsing.compare(here, rehearsing.RehearsalResult.of(ended[number]), competition.columns)
        wrong += bool(lines)
        say(f"{act.title} (#{number}): {'differs' if lines else 'every column as at home'}")
        for line in lines:
            say(f"  {line}")
        if lines and _part(record, "processor").get("busy") is True:
            say("  The record says that the machine was busy with other work: run this submission again.")
    if lacking:
        say("Missing on the worker, as seen from inside, where limits of a slice are invisible (docs/operator.md):")
        for line in lacking:
            say(f"  - {line}")
    if wrong:
        raise BundleError(f"{wrong} of {len(acts)} submissions had a different result on the server.")
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


def fetch(arguments: argparse.Namespace) -> int:
    """Fetch submissions, and name what is missing."""
    connection, _, competition = _open(arguments.competition)
    phase = competition.phase(arguments.phase)
    with progress_bar("Fetch", "submission") as progress:
        fetched = submissions.fetch(connection, competition, phase, arguments.out, progress)
    say(f"{counted(fetched.new, 'submission')} fetched, {fetched.kept} from before. Table: {fetched.table}")
    for line in (*fetched.missing, *fetched.rows):
        say(f"  {line}")
    return 1 if fetched.missing else 0


def replace(arguments: argparse.Namespace) -> int:
    """Upload parts, point the task to them, run the submissions again."""
    connection, _, competition = _open(arguments.competition)
    phase = competition.phase(arguments.phase)
    files: dict[str, Path] = {part: path for part in PARTS if (path := getattr(arguments, part)) is not None}
    with tempfile.TemporaryDirectory(prefix="bundle-replace-") as folder:
        zips = replacing.packed(files, Path(folder))
        plan = [
            f"{part} of {phase.name} becomes {files[part]} ({path.stat().st_size / 1e6:.1f} MB)."
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
    old = replacing.old_runs(connection, phase, since)
    if not old:
        say("No submission ran on older parts.")
        return 0
    with progress_bar("Again", "submission") as progress:
        wrong = replacing.run_all_again(
            connection, old, own_queue=competition.own_queue, limit_s=arguments.wait, say=say, progress=progress
        )
    again = counted(len(old) - len(wrong), "submission")
    say(f"{again} run again; `bundle server board` tells when their rows are there.")
    for line in wrong:
        say(f"  {line}")
    if wrong:
        raise BundleError(
            f"{len(wrong)} submissions could not be run again. Repeat the command: it continues with them."
        )
    return 0


def board(arguments: argparse.Namespace) -> int:
    """Show the rows and their problems."""
    connection, _, competition = _open(arguments.competition)
    phase = competition.phase(arguments.phase)
    lines = submissions.board_lines(connection, competition, phase)
    for line in (f"{competition.title}, {phase.name}", *lines):
        say(line)
    return 0


def _doubts(part: str, path: Path) -> list[str]:
    """Return oddities of a part of this challenge that a server would accept."""
    with zipfile.ZipFile(path) as opened:
        names = set(opened.namelist())
    if part in replacing.PROGRAMS:
        if "seal.key" in names:
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


def _unpacked(source: Path, scratch: Path, *, trust: bool) -> Bundle:
    if not source.exists():
        raise BundleError(f"--bundle {source}: expected what was uploaded, found nothing. `bundle build` makes it.")
    if source.is_file():
        unpack_bundle(source, scratch)
        source = scratch
    return load(find_root(source), trust=trust)


def _acts(
    bundle: Bundle, competition: ServerCompetition, arguments: argparse.Namespace, scratch: Path
) -> list[rehearsing.Act]:
    """Return which zip goes to which phase."""
    phases = [competition.phase(name) for name in arguments.phase or []] or list(competition.phases)
    acts = []
    for phase in phases:
        for name, path in _solutions(bundle, phase, arguments.submission):
            archive = path
            if path.is_file() and not zipfile.is_zipfile(path):
                raise BundleError(f"{path}: expected the folder or the zip of a submission, found another file.")
            if path.is_dir():
                archive = scratch / f"{path.name}.zip"
                if not archive.exists():
                    zip_folder(path, archive)
            acts.append(rehearsing.Act(phase, name, archive))
    if not acts:
        raise BundleError("expected solutions in the bundle, found none. Name one with --submission.")
    return acts


def _solutions(bundle: Bundle, phase: ServerPhase, named: list[Path]) -> list[tuple[str, Path]]:
    if named:
        missing = [str(path) for path in named if not path.exists()]
        if missing:
            raise BundleError(f"{', '.join(missing)}: expected a submission, found nothing there.")
        return [(path.stem, path) for path in named]
    keys = read_keys((bundle.root / "competition.yaml").read_text("utf-8-sig"))
    runs: list[object] = next((entry.tasks for entry in keys.phases if entry.name == phase.name), [])
    return [
        (solution.name, bundle.root / solution.path)
        for solution in keys.solutions or ()
        if solution.path and set(solution.tasks) & set(runs)
    ]


def _closed(phase: ServerPhase, connection: ServerConnection) -> str:
    """Say that the website takes no submissions now; the programming interface ignores dates."""
    now = connection.server_time
    if now is not None and phase.end is not None and phase.end < now:
        return f" (ended {phase.end:%Y-%m-%d %H:%M} UTC: the website takes nothing any more, this command does)"
    if now is not None and phase.start is not None and phase.start > now:
        return f" (begins {phase.start:%Y-%m-%d %H:%M} UTC: the website takes nothing yet, this command does)"
    return ""


def _record(connection: ServerConnection, number: int) -> dict[str, object]:
    """Fetch ingestion's record of a run; empty if it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="bundle-rehearse-") as folder:
        packed = Path(folder) / "prediction_output.zip"
        try:
            files = connection.call("GET", f"/api/submissions/{number}/get_details/")
            records.download(connection, str(files["prediction_result"]), packed)
            extract(packed, Path(folder, "unpacked"), LARGEST_OUTPUT, MOST_FILES)
            return dict(read_json(Path(folder, "unpacked", "run.json"), LARGEST_FACTS))
        except (BundleError, KeyError, TypeError, ValueError):
            return {}


def _part(record: dict[str, object], key: str) -> dict[str, object]:
    part = record.get(key)
    return part if isinstance(part, dict) else {}


def _at_home(
    bundle: Bundle, act: rehearsing.Act, out: Path, arguments: argparse.Namespace
) -> rehearsing.RehearsalResult:
    phase = bundle.phase(act.phase.name)
    docker = Docker(bundle.docker_image) if arguments.engine == "docker" else None
    [(_, verdict), *_] = run_submission(bundle, phase, act.archive, out, docker, limit_of(bundle, phase, kill=False))
    return rehearsing.RehearsalResult(verdict.status, verdict.values, verdict.reason or "")


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "publish": publish, "rehearse": rehearse, "audit": audit, "fetch": fetch, "replace": replace, "board": board,
}  # fmt: skip
