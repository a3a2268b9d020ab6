"""`bundle data from-folder`: a challenge of an organiser's own clips and labels."""

import argparse
import shlex
from datetime import datetime, time, timedelta
from pathlib import Path

from bundle_tools.commands.options import moment, positive, workers
from bundle_tools.commands.real_clips import add_treatment
from bundle_tools.console import progress_bar, say

NOTICE = timedelta(days=30)
"""Time between making a bundle and its first phase, unless asked for otherwise."""
FEW_PEOPLE = 10
"""Intervals resample people: with fewer of them in a phase they are wider than most differences between models."""


def add(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the kind."""
    own = kinds.add_parser("from-folder", prog="bundle data from-folder", help="a bundle of your own clips and labels")
    own.add_argument("--clips", type=Path, required=True, help="the folder with the clips; zips in it are read too")
    own.add_argument("--labels", type=Path, required=True, help="a CSV table: one row a clip, one column a target")
    own.add_argument("--groups", type=Path, help="a CSV table of the groups that people belong to, for fairness")
    own.add_argument("--challenge", type=Path, help="titles, targets, ranges and words (docs/adapting.md)")
    own.add_argument(
        "--range", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"),
        help="of all targets, where --challenge names none (default: 0 1)",
    )  # fmt: skip
    own.add_argument("--out", type=Path, required=True, help="a folder that is empty or does not exist yet")
    own.add_argument("--practice", type=positive, help="clips (default: a fifth, 60 at most)")
    own.add_argument("--final", type=positive, help="clips (default: a fifth, 60 at most)")
    own.add_argument("--start", type=moment, help="when Practice starts, UTC (default: in 30 days)")
    own.add_argument("--data-only", action="store_true", help="write data and settings, no programs and no pages")
    add_treatment(own)
    own.set_defaults(action=_from_folder)


def _from_folder(arguments: argparse.Namespace) -> int:
    from bundle_tools.adapt.folder.challenge import Challenge, read_challenge  # noqa: PLC0415 - loads numpy
    from bundle_tools.adapt.folder.make import Wanted, make_own  # noqa: PLC0415
    from bundle_tools.adapt.folder.reader import Sources, read_folder  # noqa: PLC0415
    from bundle_tools.adapt.media import Treatment  # noqa: PLC0415
    from bundle_tools.adapt.problems import Problems  # noqa: PLC0415
    from bundle_tools.adapt.split import off_size  # noqa: PLC0415
    from bundle_tools.adapt.stage import Stage  # noqa: PLC0415

    stage, problems = Stage(arguments.out, arguments.seed), Problems()
    stage.check_apart("--clips", arguments.clips, problems)
    challenge = read_challenge(arguments.challenge, problems) if arguments.challenge else Challenge()
    asked_for = (arguments.practice or 0) + (arguments.final or 0)
    sources = Sources(arguments.clips, arguments.labels, arguments.groups, tuple(arguments.range), asked_for)
    with progress_bar("reading", "file") as progress:
        found = read_folder(sources, challenge, problems, progress)
    start = None if arguments.data_only else arguments.start or _usual_start()
    wanted = Wanted(arguments.practice, arguments.final, arguments.time_limit, start, arguments.rank_by)
    with progress_bar("clips") as progress:
        parts, written = make_own(
            found, challenge, stage, wanted,
            treatment=Treatment(arguments.reencode), workers=workers(), progress=progress,
        )  # fmt: skip
    for one in found.asked:
        target = one.target
        say(f"Target {target.name}: {target.minimum:g} to {target.maximum:g}, mean {written.constants[target.name]}.")
    for part in parts:
        say(f"{part.name}: {len(part.clips)} clips of {len({clip.source for clip in part.clips})} people or videos.")
    counts = {part.name: len(part.clips) for part in parts}
    few = [part.name for part in parts if part.phase and len({clip.source for clip in part.clips}) < FEW_PEOPLE]
    if few:
        say(f"WARNING: {' and '.join(few)}: luck decides among fewer than {FEW_PEOPLE} people. Take more if you can.")
    for line in off_size(counts, wanted.sizes(len(found.dataset.clips))):
        say(line)
    if not found.has_sources:
        say("WARNING: no column tells which clips are of one person, so each clip counts as another person. If people")
        say("are in several clips, add a column called source: a model that knows a person is not judging impressions.")
    if arguments.data_only:
        say(f"Written: {arguments.out}. Copy input_data, reference_data and public_data into a bundle; keep private/.")
    else:
        folder = shlex.quote(str(arguments.out))
        say(f"Written: {arguments.out}. Fill in pages/responsible_use.md, then: bundle check {folder}")
    return 0


def _usual_start() -> datetime:
    from bundle_tools.check import clock  # noqa: PLC0415 - with all rules of the checker

    return datetime.combine(clock.utc_now().date() + NOTICE, time(12))
