"""`bundle submission`: the starting kit's commands, from a checkout."""

import argparse
import subprocess
import sys

from bundle_tools.cli.options import add_bundle, add_command, add_path, positive
from bundle_tools.codabench.competition import find_root
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    submission = add_command(
        commands, "submission", "Check a submission and pack it.", "check my_submission --run 3\npack my_submission"
    )
    actions = submission.add_subparsers(required=True, metavar="COMMAND")
    check = add_command(
        actions, "submission check", "List every problem of a submission, with the fix.", "my_submission --run 3"
    )
    check.add_argument("--run", metavar="N", type=positive, help="also run the first clips, such as 3")
    pack = add_command(actions, "submission pack", "Check a submission, then write its zip.", "my_submission")
    add_path(pack, "--out", "FILE", "default: the folder's name with .zip")
    for name, action in (("check", check), ("pack", pack)):
        add_path(action, "submission", "SUBMISSION", "a folder with model.py, or its zip")
        add_bundle(action)
        action.set_defaults(action=_call_kit, command=name)


def _call_kit(given: argparse.Namespace) -> int:
    """Call `kit.py` of the starting kit."""
    path = find_root(given.bundle) / "starting_kit" / "kit.py"
    if not path.is_file():
        raise BundleError(f"{path}: no such file. Expected the starting kit of this project.")
    options = [(f"--{name}", vars(given).get(name)) for name in ("run", "out")]
    words = [str(word) for option in options if option[1] is not None for word in option]
    call = [sys.executable, str(path), given.command, str(given.submission), *words]
    return subprocess.run(call, check=False).returncode  # noqa: S603 - no shell
