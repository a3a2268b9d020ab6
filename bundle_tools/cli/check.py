"""`bundle check`: list everything that is wrong with a bundle."""

import argparse
import contextlib
import gc
import json
from collections.abc import Iterator
from pathlib import Path

from bundle_tools.challenge.check import check
from bundle_tools.cli.options import add_command, add_path
from bundle_tools.codabench.competition import find_root
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    check = add_command(
        commands, "check", "List everything that is wrong with a bundle, with the fix.", "\ndist/bundle.zip"
    )
    add_path(check, "path", "PATH", "folder or zip (default: the bundle in this folder, else the checkout)", nargs="?")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(action=_check)


def _check(arguments: argparse.Namespace) -> int:
    path: Path = arguments.path or find_root()
    if not path.exists():
        raise BundleError(f"{path}: expected a folder or a zip, found nothing there.")

    with progress_bar("clips") as progress, _rarely_collected():
        findings = check(path, progress=progress)
    errors = sum(finding.severity == "error" for finding in findings)
    if arguments.json:
        say(json.dumps([finding.record() for finding in findings], indent=2))
    else:
        for finding in findings:
            for line in finding.lines():
                say(line)
        warnings = sum(finding.severity == "warning" for finding in findings)
        say(f"{path}: {errors} errors, {warnings} warnings, {len(findings) - errors - warnings} notes.")
    return 1 if errors else 0


@contextlib.contextmanager
def _rarely_collected() -> Iterator[None]:
    """Collect garbage a hundred times less often: syntax trees are many objects, but not garbage."""
    usual, *others = gc.get_threshold()
    gc.set_threshold(100 * usual, *others)
    try:
        yield
    finally:
        gc.set_threshold(usual, *others)
