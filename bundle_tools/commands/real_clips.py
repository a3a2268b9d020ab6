"""`bundle data first-impressions` and `bundle data observations`: real clips and what people pointed at in them."""

import argparse
from pathlib import Path

from bundle_tools.commands.options import count, positive, workers
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError

PHASE_CLIPS = 60
TIME_LIMIT_S = 600
LEAST_HEIGHT = 90
RANK_BY = ("prediction", "explanation")


def add(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the kinds."""
    impressions = kinds.add_parser(
        "first-impressions",
        prog="bundle data first-impressions",
        help="phases and public data from ChaLearn First Impressions V2",
    )
    impressions.add_argument("--source", type=Path, required=True, help="the folder with the downloaded files")
    impressions.add_argument("--out", type=Path, required=True, help="a folder that is empty or does not exist yet")
    impressions.add_argument("--practice", type=positive, default=PHASE_CLIPS, help="clips (default: %(default)s)")
    impressions.add_argument("--final", type=positive, default=PHASE_CLIPS, help="clips (default: %(default)s)")
    impressions.add_argument(
        "--official-split",
        action="store_true",
        help="training, validation and test as in 2017, with people on both sides; prints what looking up is worth",
    )
    impressions.add_argument("--passwords", type=Path, help="a file with the passwords of archives, one a line")
    impressions.add_argument("--incomplete", action="store_true", help="leave out clips and labels without the other")
    impressions.add_argument("--unknown-ages", action="store_true", help="keep clips whose age nobody judged")
    impressions.add_argument(
        "--results",
        action="store_true",
        help="take submissions of 2017 too: writes the true names of clips into the input data",
    )
    add_treatment(impressions)
    impressions.set_defaults(action=_first_impressions)
    observations = kinds.add_parser(
        "observations",
        prog="bundle data observations",
        help="what people pointed at in clips of First Impressions V2 (MM-OCEAN, CC BY-NC-SA 4.0), for plausibility",
    )
    observations.add_argument(
        "--source", type=Path, required=True, help="MM-OCEAN's data/test: folder, archive or file"
    )
    observations.add_argument("--out", type=Path, required=True, help="the folder of first-impressions, or the bundle")
    observations.add_argument("--names", type=Path, help="which clip is which (default: private/clips.csv in --out)")
    observations.set_defaults(action=_observations)


def add_treatment(parser: argparse.ArgumentParser) -> None:
    """Add the options that every adapter has: what is done to clips, the secret seed, the time limit, what ranks."""
    parser.add_argument(
        "--reencode", type=_height, metavar="HEIGHT", help="encode all clips alike, so many pixels high"
    )
    parser.add_argument("--seed", type=count, help="keep it secret: it gives names and split (default: a random one)")
    parser.add_argument(
        "--time-limit",
        type=positive,
        default=TIME_LIMIT_S,
        metavar="SECONDS",
        help="execution_time_limit of the phases in competition.yaml (default: %(default)s)",
    )
    parser.add_argument(
        "--rank-by",
        choices=RANK_BY,
        default=RANK_BY[0],
        help="what the leaderboard ranks by; on filmed clips explanations are a diagnostic (default: %(default)s)",
    )


def _height(text: str) -> int:
    height = positive(text)
    if height < LEAST_HEIGHT or height % 2:
        raise argparse.ArgumentTypeError(f"expected an even number of at least {LEAST_HEIGHT} pixels; found {text}")
    return height


def _first_impressions(arguments: argparse.Namespace) -> int:
    from bundle_tools.adapt.first_impressions.make import make_first_impressions  # noqa: PLC0415 - loads numpy
    from bundle_tools.adapt.first_impressions.reader import read_first_impressions  # noqa: PLC0415
    from bundle_tools.adapt.media import Treatment  # noqa: PLC0415
    from bundle_tools.adapt.problems import Problems  # noqa: PLC0415
    from bundle_tools.adapt.stage import Stage  # noqa: PLC0415

    stage, problems = Stage(arguments.out, arguments.seed), Problems()
    stage.check_apart("--source", arguments.source, problems)
    with progress_bar("reading", "file") as progress:
        found = read_first_impressions(
            arguments.source,
            problems,
            passwords=_passwords(arguments.passwords),
            allow_incomplete=arguments.incomplete,
            allow_unknown_ages=arguments.unknown_ages,
            progress=progress,
        )
    for line in found.summary():
        say(line)
    sizes = None if arguments.official_split else {"practice": arguments.practice, "final": arguments.final}
    with progress_bar("clips") as progress:
        made = make_first_impressions(
            found,
            stage,
            sizes=sizes,
            treatment=Treatment(arguments.reencode),
            time_limit_s=arguments.time_limit,
            rank_by=arguments.rank_by,
            results=arguments.results,
            workers=workers(),
            progress=progress,
        )
    for line in made.summary():
        say(line)
    say(f"Written: {arguments.out}. Copy input_data, reference_data and public_data into the bundle; keep private/.")
    return 0


def _observations(arguments: argparse.Namespace) -> int:
    from bundle_tools.adapt.annotate import annotate, summary  # noqa: PLC0415 - loads numpy

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
        found = [line.strip() for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise BundleError(
            f"--passwords {path}: {error.strerror}. Name a text file with one password a line."
        ) from error
    if not found:
        raise BundleError(f"--passwords {path}: the file is empty. Write one password a line into it.")
    return found
