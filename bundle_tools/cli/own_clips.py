"""`bundle data from-folder`, `first-impressions` and `observations`: filmed clips with people's ratings and marks."""

import argparse
import shlex
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from itertools import chain
from pathlib import Path

from bundle_tools.cli.options import add_command, add_path, count, moment, positive, workers
from bundle_tools.codabench.rules import clock
from bundle_tools.console import counted, progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.clips import StagingFolder
from bundle_tools.own_clips.dataset import look_up_table, off_size, remarks_on_targets, split_by_source
from bundle_tools.own_clips.description import Description, read_description
from bundle_tools.own_clips.files import Problems
from bundle_tools.own_clips.first_impressions import NOTES as RELEASE_NOTES
from bundle_tools.own_clips.first_impressions import OLD_TARGETS, STABILITY, read_first_impressions
from bundle_tools.own_clips.folder import Sources, read_folder
from bundle_tools.own_clips.observations import annotate, summary
from bundle_tools.own_clips.people import ASK, CHOICES
from bundle_tools.own_clips.sheet import FILE as SHEET
from bundle_tools.own_clips.sheet import write_sheet
from bundle_tools.own_clips.writing import SetOptions, Written, write
from bundle_tools.phase_data.settings import TRIED

NOTICE = timedelta(days=30)
"""Default time between making a bundle and its first phase."""
FEW_CLIPS = 20
"""With fewer clips in a phase, intervals are wider than most differences between models."""
NAMED = 5
"""Most clips named in one message."""
FEW_PEOPLE = 10
"""Intervals resample people: with fewer of them in a phase they are wider than most differences between models."""
PHASE_CLIPS = 60
"""Default number of clips in a phase: on the default queue, more would leave little time per clip."""
SHARE = 5
"""Each phase of a small set gets one in this many clips by default."""
TIME_LIMIT_S = 600
LEAST_HEIGHT = 90
RANK_BY = ("prediction", "explanation")
NOTES = "The labels are impressions of people. Do not pass the clips on, and do not try to identify anybody.\n"


def add_own_clips(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the kinds."""
    own = add_command(
        kinds, "data from-folder", "Make a whole bundle of your own clips and labels.",
        "--clips films --labels ratings.csv --out my_challenge",
    )  # fmt: skip
    add_path(own, "--clips", "DIR", "the folder with the clips; zips in it are read too", required=True)
    add_path(
        own,
        "--labels",
        "FILE",
        "a table, CSV or Excel: a row per clip, or clip and rater; a column per target",
        required=True,
    )
    add_path(own, "--groups", "FILE", "a table of the groups that people belong to, for fairness")
    add_path(own, "--challenge", "FILE", "titles, targets, ranges and words (docs/adapting.md)")
    own.add_argument(
        "--range", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"),
        help="of all targets, where --challenge names none (default: 0 1)",
    )  # fmt: skip
    own.add_argument("--practice", metavar="N", type=positive, help="clips (default: a fifth, 60 at most)")
    own.add_argument("--final", metavar="N", type=positive, help="clips (default: a fifth, 60 at most)")
    own.add_argument(
        "--look-alikes", choices=CHOICES, default=ASK,
        help="people whose names look alike, such as P01 and p1: make one person of them, or keep them apart "
        "(default: ask)",
    )  # fmt: skip
    own.add_argument("--start", metavar="TIME", type=moment, help="when Practice starts, UTC (default: in 30 days)")
    own.add_argument("--data-only", action="store_true", help="write data and settings, no programs and no pages")
    _add_writing(own)
    own.set_defaults(action=_from_folder)

    impressions = add_command(
        kinds, "data first-impressions", "Make phases and public data from ChaLearn First Impressions V2.",
        "--source downloads --out my_challenge",
    )  # fmt: skip
    add_path(impressions, "--source", "DIR", "the folder with the downloaded files", required=True)
    impressions.add_argument(
        "--practice", metavar="N", type=positive, default=PHASE_CLIPS, help="clips (default: %(default)s)"
    )
    impressions.add_argument(
        "--final", metavar="N", type=positive, default=PHASE_CLIPS, help="clips (default: %(default)s)"
    )
    impressions.add_argument(
        "--official-split",
        action="store_true",
        help="split as in 2017, with the same people in several parts; prints what looking people up would score",
    )
    add_path(impressions, "--passwords", "FILE", "a file with archive passwords, one per line")
    impressions.add_argument(
        "--incomplete", action="store_true", help="skip clips without labels, and labels without a clip"
    )
    impressions.add_argument("--unknown-ages", action="store_true", help="keep clips without an age rating")
    impressions.add_argument(
        "--results",
        action="store_true",
        help="also accept submissions of 2017: writes the true names of clips into the input data",
    )
    _add_writing(impressions)
    impressions.set_defaults(action=_first_impressions)

    observations = add_command(
        kinds, "data observations",
        "Add evidence that people marked in First Impressions V2, for plausibility (MM-OCEAN, CC BY-NC-SA 4.0).",
        "--source mm-ocean/data/test --out my_challenge",
    )  # fmt: skip
    add_path(observations, "--source", "PATH", "MM-OCEAN's data/test: folder, archive or file", required=True)
    add_path(observations, "--out", "DIR", "the folder of first-impressions, or the bundle", required=True)
    add_path(observations, "--names", "FILE", "which clip is which (default: private/clips.csv in --out)")
    observations.set_defaults(action=_observations)


def _add_writing(parser: argparse.ArgumentParser) -> None:
    """Add options of every source: output, encoding, secret seed, rules."""
    add_path(parser, "--out", "DIR", "a folder that is empty or does not exist yet", required=True)
    parser.add_argument(
        "--reencode", type=_height, metavar="HEIGHT", help="encode all clips alike, this many pixels high"
    )
    parser.add_argument(
        "--seed", metavar="N", type=count, help="keep it secret: names and split follow from it (default: a random one)"
    )
    parser.add_argument(
        "--time-limit",
        type=positive,
        default=TIME_LIMIT_S,
        metavar="S",
        help="execution_time_limit of the phases in competition.yaml (default: %(default)s)",
    )
    parser.add_argument(
        "--rank-by",
        choices=RANK_BY,
        default=RANK_BY[0],
        help="what the leaderboard ranks by; explanations need bundle data exchanges (default: %(default)s)",
    )


def _height(text: str) -> int:
    height = positive(text)
    if height < LEAST_HEIGHT or height % 2:
        raise argparse.ArgumentTypeError(f"expected an even number of at least {LEAST_HEIGHT} pixels; found {text}")
    return height


def _from_folder(arguments: argparse.Namespace) -> int:
    staging, problems = StagingFolder(arguments.out, arguments.seed), Problems()
    staging.check_apart("--clips", arguments.clips, problems)
    description = read_description(arguments.challenge, problems) if arguments.challenge else Description()
    asked_for = (arguments.practice or 0) + (arguments.final or 0)
    sources = Sources(
        arguments.clips, arguments.labels, arguments.groups, tuple(arguments.range), asked_for, arguments.look_alikes
    )
    with progress_bar("reading", "file") as progress:
        dataset = read_folder(sources, description, problems, progress)
    usual = min(PHASE_CLIPS, max(1, len(dataset.clips) // SHARE))
    sizes = {"practice": arguments.practice or usual, "final": arguments.final or usual}
    parts = split_by_source(dataset, sizes, seed=staging.seed)
    options = SetOptions(arguments.reencode, arguments.time_limit, arguments.rank_by)

    def add_rest(folder: Path, constants: Mapping[str, float]) -> None:
        with progress_bar("pictures") as progress:
            write_sheet(folder, dataset, workers(), progress)
        if not arguments.data_only:
            from bundle_tools.own_clips.bundle.make import add_bundle  # noqa: PLC0415 - imports the scoring program

            start = arguments.start or datetime.combine(clock.utc_now().date() + NOTICE, time(12))
            add_bundle(folder, dataset, parts, options, start, constants, workers())

    with progress_bar("clips") as progress:
        written = write(
            dataset, parts, staging, options, notes=NOTES, workers=workers(), progress=progress, finish=add_rest
        )
    for target in dataset.challenge.targets:
        say(f"Target {target.name}: {target.minimum:g} to {target.maximum:g}, mean {written.constants[target.name]}.")
    for remark in remarks_on_targets(dataset):
        say(f"WARNING: {remark}.")
    if (ratings := dataset.ratings) is not None:
        alphas = ", ".join(f"{name} {alpha:.2f}" for name, alpha in ratings.agreement.items())
        say(f"Labels are means of {ratings.each} ratings by {ratings.raters} raters, whose agreement is {alphas}")
        say("(Krippendorff's alpha, at most 1, 0 is chance).")
    for part in parts:
        say(f"{part.name}: {len(part.clips)} clips of {part.people} people or videos.")
    _say_of_clips(written)
    small = [part.name for part in parts if part.is_phase and len(part.clips) < FEW_CLIPS]
    if small:
        say(f"WARNING: {' and '.join(small)}: scores of fewer than {FEW_CLIPS} clips hardly tell models apart.")
    if untried := [cue for cue in dataset.challenge.vocabulary if cue not in TRIED]:
        say(f"{', '.join(untried)}: cannot be edited in footage, so claims about such cues are shown but not tested.")
    few = [part.name for part in parts if part.is_phase and part.people < FEW_PEOPLE]
    if few:
        say(f"WARNING: {' and '.join(few)}: with fewer than {FEW_PEOPLE} people, luck decides. Use more if you can.")
    for line in off_size(parts, sizes):
        say(line)
    if not dataset.has_sources:
        say("WARNING: no column says which clips show the same person, so each clip counts as a new person. If people")
        say("appear in several clips, add a column called source: otherwise a model can score by recognising people.")
    if dataset.attributes and (unknown := sum(not clip.groups for clip in dataset.clips)):
        say(f"WARNING: --groups says nothing about {counted(unknown, 'clip')}: their groups count as unknown.")
    say(f"Look through all clips: {arguments.out / SHEET}. It shows people: keep it private.")
    if arguments.data_only:
        say(f"Written: {arguments.out}. Copy input_data, reference_data and public_data into a bundle; keep private/.")
    else:
        folder = shlex.quote(str(arguments.out))
        say(f"Written: {arguments.out}. Fill in pages/responsible_use.md, then: bundle check {folder}")
        say(f"So that explanations can be measured on people: bundle data exchanges --bundle {folder}")
    return 0


def _say_of_clips(written: Written) -> None:
    if encoded := written.encoded:
        why = ", ".join(f"{kind} ({count})" for kind, count in Counter(chain(*encoded.values())).most_common())
        listed = ", ".join(list(encoded)[:NAMED]) + (", ..." if len(encoded) > NAMED else "")
        say(f"{counted(len(encoded), 'clip')} had to be re-encoded for the canonical form: {why}. {listed}.")
    for remark in written.remarks:
        say(f"WARNING: {remark}.")


def _first_impressions(arguments: argparse.Namespace) -> int:
    staging, problems = StagingFolder(arguments.out, arguments.seed), Problems()
    staging.check_apart("--source", arguments.source, problems)
    with progress_bar("reading", "file") as progress:
        released = read_first_impressions(
            arguments.source,
            problems,
            passwords=_passwords(arguments.passwords),
            allow_incomplete=arguments.incomplete,
            allow_unknown_ages=arguments.unknown_ages,
            progress=progress,
        )
    for line in released.summary:
        say(line)
    dataset, official = released.dataset, arguments.official_split
    sizes = {} if official else {"practice": arguments.practice, "final": arguments.final}
    parts = released.official_parts() if official else split_by_source(dataset, sizes, seed=staging.seed)
    options = SetOptions(
        arguments.reencode,
        arguments.time_limit,
        arguments.rank_by,
        old_targets=OLD_TARGETS if arguments.results else None,
    )
    with progress_bar("clips") as progress:
        written = write(dataset, parts, staging, options, notes=RELEASE_NOTES, workers=workers(), progress=progress)
    for part in parts:
        say(f"{part.name}: {len(part.clips)} clips of {part.people} videos.")
    _say_of_clips(written)
    if written.kept:
        say(f"{written.kept} clips were finished in an earlier run and kept.")
    for line in look_up_table(dataset.challenge, parts):
        say(line)
    if official:
        say("The official split has videos in several parts: compare with the look-up, and do not rank by it.")
    for line in off_size(parts, sizes):
        say(line)
    say(STABILITY.strip())
    say(f"Written: {arguments.out}. Copy input_data, reference_data and public_data into the bundle; keep private/.")
    return 0


def _observations(arguments: argparse.Namespace) -> int:
    names = arguments.names or arguments.out / "private" / "clips.csv"
    with progress_bar("reading", "file") as progress:
        done = annotate(arguments.out, names, arguments.source, progress)
    for line in summary(done):
        say(line)
    return 0


def _passwords(path: Path | None) -> list[bytes]:
    if path is None:
        return []
    try:
        passwords = [line.strip() for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise BundleError(
            f"--passwords {path}: {error.strerror}. Name a text file with one password a line."
        ) from error
    if not passwords:
        raise BundleError(f"--passwords {path}: the file is empty. Write one password a line into it.")
    return passwords
