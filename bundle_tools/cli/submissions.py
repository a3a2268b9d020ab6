"""`bundle server fetch`, `watch`, `rerun` and `delete`: the submissions to a phase."""

import argparse
import shlex
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime

from bundle_tools.codabench.server import records, submissions
from bundle_tools.codabench.server import replace as replacing
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from bundle_tools.codabench.server.records import Address, ServerCompetition, ServerPhase, Submission
from bundle_tools.codabench.server.rows import Watch
from bundle_tools.console import confirm, counted, progress_bar, say
from bundle_tools.errors import BundleError

EVERY_S, LEAST_S = 30, 5
"""Time between two looks, and the shortest, seconds."""
CLEAR = "\x1b[2J\x1b[H"
"""Empties a terminal."""


def fetch(
    connection: ServerConnection, _: Address, competition: ServerCompetition, arguments: argparse.Namespace
) -> int:
    """Fetch submissions, and name what is missing."""
    phase = competition.phase(arguments.phase)
    with progress_bar("Fetch", "submission") as progress:
        fetched = submissions.fetch(connection, competition, phase, arguments.out, progress)
    say(f"{counted(fetched.new, 'submission')} fetched, {fetched.kept} from before. Table: {fetched.table}")
    for line in fetched.missing:
        say(f"  {line}")
    for entry in fetched.to_do:
        for line in entry.lines(_where(arguments)):
            say(line)
    return 1 if fetched.missing else 0


def run_again(
    connection: ServerConnection,
    competition: ServerCompetition,
    phase: ServerPhase,
    old: list[replacing.Old],
    wait_s: float,
) -> int:
    """Run files again, and report each that could not be; raises BundleError if there are any."""
    with progress_bar("Again", "submission") as progress:
        wrong = replacing.run_all_again(
            connection, phase, old, own_queue=competition.own_queue, limit_s=wait_s, say=say, progress=progress
        )
    again = counted(len(old) - len(wrong), "submission")
    say(f"{again} run again; `bundle server watch` tells when their rows are there.")
    for line in wrong:
        say(f"  {line}")
    if wrong:
        raise BundleError(
            f"{len(wrong)} submissions could not be run again. Repeat the command: it continues with them."
        )
    return 0


def watch(
    connection: ServerConnection, _: Address, competition: ServerCompetition, arguments: argparse.Namespace
) -> int:
    """Show the table and what to do, until the user interrupts."""
    phase = competition.phase(arguments.phase)
    watched = Watch(connection, competition, phase)
    lines = watched.lines(_where(arguments), arguments.excuse)  # errors of the first look end the command
    with suppress(KeyboardInterrupt):
        while True:
            if sys.stdout.isatty() and not arguments.once:
                sys.stdout.write(CLEAR)
            now = connection.server_time or datetime.now(UTC)
            say(f"{competition.title}, {phase.name}, {now:%Y-%m-%d %H:%M:%S} UTC")
            for line in lines:
                say(line)
            if arguments.once:
                break
            time.sleep(max(arguments.every, LEAST_S))
            try:
                lines = watched.lines(_where(arguments), arguments.excuse)
            except ServerError as error:
                lines = [f"{error} The next look is in {arguments.every} s."]
    return 0


def rerun(
    connection: ServerConnection, _: Address, competition: ServerCompetition, arguments: argparse.Namespace
) -> int:
    """Run chosen submissions again; those that somebody else has run again meanwhile are only deleted."""
    phase, chosen = _chosen(connection, competition, arguments)
    if running := [run for run in chosen if not run.ended]:
        named = ", ".join(f"#{run.submission_id} is {run.status}" for run in running)
        raise BundleError(f"{named}: expected submissions that have ended. Cancel them on the website, or wait.")
    confirm([f"Runs again, and deletes the old runs and their outputs: {_named(chosen)}."], yes=arguments.yes)
    numbers = {run.submission_id for run in chosen}
    old = replacing.old_runs(connection, phase, lambda run: run.submission_id in numbers)
    if not old:
        say("Another organiser has already run them again or deleted them: nothing was changed.")
        return 0
    return run_again(connection, competition, phase, old, arguments.wait)


def delete(
    connection: ServerConnection, _: Address, competition: ServerCompetition, arguments: argparse.Namespace
) -> int:
    """Delete chosen submissions."""
    chosen = _chosen(connection, competition, arguments)[1]
    plan = [f"Deletes for good, with all files: {_named(chosen)}."]
    if competition.rule.startswith("Force_") and any(run.on_board for run in chosen):
        plan.append("The leaderboard gets no other row of their owners until a run of theirs ends: rerun their best.")
    confirm(plan, yes=arguments.yes)
    for run in chosen:
        gone = "" if replacing.delete(connection, run.submission_id) else " was gone already"
        say(f"#{run.submission_id} {run.owner}{gone or ' deleted'}")
    return 0


def _chosen(
    connection: ServerConnection, competition: ServerCompetition, arguments: argparse.Namespace
) -> tuple[ServerPhase, list[Submission]]:
    """Return the submissions that the command names; raises BundleError with all that the phase lacks."""
    phase = competition.phase(arguments.phase)
    there = {run.submission_id: run for run in records.submissions(connection, phase) if not run.elsewhere}
    if missing := [f"#{number}" for number in dict.fromkeys(arguments.numbers) if number not in there]:
        raise BundleError(
            f"{', '.join(missing)}: no such submission to {phase.name}. Another organiser may have deleted it or run "
            "it again: look with `bundle server watch`."
        )
    return phase, [there[number] for number in dict.fromkeys(arguments.numbers)]


def _named(runs: list[Submission]) -> str:
    return ", ".join(f"#{run.submission_id} of {run.owner}" for run in runs)


def _where(arguments: argparse.Namespace) -> str:
    """Return the competition and its phase as they stand on a command line."""
    phase = shlex.quote(arguments.phase)
    return f'"{arguments.competition}" --phase {phase}'
