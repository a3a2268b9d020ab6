"""`bundle build`: check, then write the zip to upload."""

import argparse
from pathlib import Path

from bundle_tools.build import Options, build
from bundle_tools.commands.options import add_bundle, count, moment, workers
from bundle_tools.competition import find_root
from bundle_tools.console import say

TRAINING_CLIPS = 240


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    build = commands.add_parser("build", prog="bundle build", help="check, then write the zip to upload")
    build.add_argument("--out", type=Path, default=Path("dist/bundle.zip"), help="the zip (default: dist/bundle.zip)")
    build.add_argument(
        "--start", type=moment, help='move all dates so that the first phase starts then, UTC: "2026-12-01 12:00:00"'
    )
    build.add_argument(
        "--training-clips",
        type=count,
        default=TRAINING_CLIPS,
        help="clips of the public training set; 0 packs the small committed sample (default: %(default)s)",
    )
    add_bundle(build)
    build.set_defaults(action=_build)


def _build(arguments: argparse.Namespace) -> int:
    options = Options(arguments.out, arguments.start, arguments.training_clips, workers())
    for finding in build(find_root(arguments.bundle), options):
        for line in finding.lines():
            say(line)
    say(f"Built: {options.out}")
    return 0
