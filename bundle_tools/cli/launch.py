"""`bundle launch`: what must be settled before the event begins, and a datasheet of the data."""

import argparse

from bundle_tools.challenge.check import check
from bundle_tools.challenge.launch.datasheet import datasheet
from bundle_tools.challenge.launch.facts import FILE, read_facts
from bundle_tools.challenge.launch.items import items
from bundle_tools.cli.options import add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.codabench.rules import clock
from bundle_tools.console import progress_bar, say

MARKS = {"done": "[x]", "open": "[ ]", "look": "[?]"}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    launch = add_command(
        commands, "launch", "List what must be settled before the challenge begins.", "\n--datasheet datasheet.md"
    )
    add_path(launch, "--datasheet", "FILE", "also write a datasheet of the data, in Markdown")
    add_bundle(launch)
    launch.set_defaults(action=_launch)


def _launch(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    begun = not (root / FILE).exists()
    competition, facts = load(root), read_facts(root)
    with progress_bar("clips") as progress:
        findings = check(root, progress=progress)
    found = list(items(competition, facts, findings, clock.utc_now()))
    width = max(len(one.title) for one in found)
    for one in found:
        say(f"{MARKS[one.state]} {one.title:{width}}  {one.found}")
    left = sum(one.state == "open" for one in found)
    say(f"{left} of {len(found)} are open; [?] needs your judgement. docs/launch.md explains each item.")
    if begun:
        say(f"Written: {root / FILE}. Fill it in; it stays with you.")
    if arguments.datasheet:
        arguments.datasheet.write_text(datasheet(competition, facts), encoding="utf-8")
        say(f"Written: {arguments.datasheet}")
    return 0
