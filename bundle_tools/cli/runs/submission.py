"""`bundle submission`: what the starting kit offers to participants, from a checkout."""

import argparse
import subprocess
import sys
from pathlib import Path

from bundle_tools.cli.options import add_bundle, positive
from bundle_tools.codabench.competition import find_root
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    submission = commands.add_parser("submission", prog="bundle submission", help="look a submission over, and pack it")
    actions = submission.add_subparsers(required=True, metavar="ACTION")
    check = actions.add_parser("check", prog="bundle submission check", help="tell every problem at once, with the fix")
    check.add_argument("--run", metavar="N", type=positive, help="also run the first clips, such as 3")
    pack = actions.add_parser("pack", prog="bundle submission pack", help="check, then write a zip that is right")
    pack.add_argument("--out", type=Path, help="default: the folder's name with .zip")
    for name, action in (("check", check), ("pack", pack)):
        action.add_argument("submission", metavar="SUBMISSION", type=Path, help="a folder with model.py, or its zip")
        add_bundle(action)
        action.set_defaults(action=_call_kit, command=name)


def _call_kit(given: argparse.Namespace) -> int:
    """Do what `kit.py` of the starting kit does for participants."""
    path = find_root(given.bundle) / "starting_kit" / "kit.py"
    if not path.is_file():
        raise BundleError(f"{path}: no such file. Expected the starting kit of this project.")
    options = [(f"--{name}", vars(given).get(name)) for name in ("run", "out")]
    words = [str(word) for option in options if option[1] is not None for word in option]
    call = [sys.executable, str(path), given.command, str(given.submission), *words]
    return subprocess.run(call, check=False).returncode  # noqa: S603 - no shell
