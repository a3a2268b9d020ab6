"""`bundle submission`: what the starting kit offers to participants, from a checkout."""

import argparse
import subprocess
import sys
from pathlib import Path

from bundle_tools.cli.options import add_bundle, positive
from bundle_tools.codabench.competition import find_root
from bundle_tools.errors import BundleError

SMOKE_CLIPS = 3


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    submission = commands.add_parser("submission", prog="bundle submission", help="look a submission over, and pack it")
    actions = submission.add_subparsers(required=True, metavar="ACTION")
    check = actions.add_parser("check", prog="bundle submission check", help="tell every problem at once, with the fix")
    check.add_argument("submission", metavar="DIR|ZIP", type=Path)
    pack = actions.add_parser("pack", prog="bundle submission pack", help="check, then write a zip that is right")
    pack.add_argument("submission", metavar="DIR", type=Path)
    pack.add_argument("--out", type=Path, help="default: the folder's name with .zip")
    smoke = actions.add_parser("smoke", prog="bundle submission smoke", help="run and score the first clips")
    smoke.add_argument("submission", metavar="DIR|ZIP", type=Path)
    smoke.add_argument("--clips", type=positive, default=SMOKE_CLIPS, help="default: %(default)s")
    smoke.add_argument("--out", type=Path, default=Path("runs/smoke"), help="default: %(default)s")
    for action in (check, pack, smoke):
        add_bundle(action)
    check.set_defaults(action=lambda given: _kit(given, "doctor.py", "check", given.submission))
    pack.set_defaults(action=lambda given: _kit(given, "doctor.py", "pack", given.submission, *_out(given)))
    smoke.set_defaults(
        action=lambda given: _kit(given, "run.py", given.submission, "--clips", given.clips, *_out(given))
    )


def _out(given: argparse.Namespace) -> list[object]:
    return [] if given.out is None else ["--out", given.out]


def _kit(given: argparse.Namespace, script: str, *arguments: object) -> int:
    """Run a script of the starting kit as participants do."""
    path = find_root(given.bundle) / "starting_kit" / script
    if not path.is_file():
        raise BundleError(f"{path}: no such file. Expected the starting kit of this project.")
    return subprocess.run([sys.executable, str(path), *map(str, arguments)], check=False).returncode  # noqa: S603 - no shell
