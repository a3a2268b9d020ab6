"""`bundle data skill-reference`: the error that earns a skill factor of 1, from a run of the best model."""

import argparse
import tempfile
from pathlib import Path

from bundle_tools.challenge.baselines.skill_reference import enter_skill_reference
from bundle_tools.cli.options import add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.console import say


def add(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    reference = add_command(
        kinds, "data skill-reference", "Set what earns a skill factor of 1, from a run of your best model.",
        "runs/best-practice",
    )  # fmt: skip
    add_path(reference, "run", "RUN", "the folder of `bundle run` on a phase, or a download")
    add_bundle(reference)
    reference.set_defaults(action=_skill_reference)


def _skill_reference(arguments: argparse.Namespace) -> int:
    competition = load(find_root(arguments.bundle))
    with tempfile.TemporaryDirectory(prefix="bundle-reference-") as scratch:
        errors, changed = enter_skill_reference(competition, arguments.run, Path(scratch))
    for target, error in errors.items():
        say(f"{target}: a mean absolute error of {error:g} earns a skill factor of 1.")
    for path in changed:
        say(f"Written: skill_reference in {path}")
    if changed:
        say("Now bring figures and scores up to date: bundle data baselines, then bundle pages.")
    return 0
