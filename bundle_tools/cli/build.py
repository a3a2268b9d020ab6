"""`bundle build`: check, then write the zip to upload."""

import argparse
import re
from pathlib import Path

from bundle_tools.challenge.build import Options, build
from bundle_tools.challenge.build.contents import TRAINING_CLIPS
from bundle_tools.challenge.build.training import FOLDER, needs_training_set, training_set
from bundle_tools.cli.data.baselines import compute_again
from bundle_tools.cli.options import add_bundle, add_command, add_path, moment, workers
from bundle_tools.codabench.competition import find_root
from bundle_tools.console import progress_bar, say

# A name in lower case, perhaps with a server and folders, and a version or a digest.
IMAGE = re.compile(
    r"(?:[a-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9._-]+(?:/[a-z0-9._-]+)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})"
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    build = add_command(
        commands, "build", "Check the bundle, then write the zip to upload.",
        '\n--start "2026-12-01 12:00:00" --image you/challenge:1.0',
    )  # fmt: skip
    add_path(build, "--out", "FILE", "the zip (default: dist/bundle.zip)", default=Path("dist/bundle.zip"))
    build.add_argument(
        "--start",
        metavar="TIME",
        type=moment,
        help='move all dates so that the first phase starts then, UTC: "2026-12-01 12:00:00"',
    )
    build.add_argument(
        "--image",
        metavar="NAME",
        type=_image,
        help="set docker_image to an image with an exact version, such as you/name:1.0",
    )
    build.add_argument(
        "--wheels", action="store_true", help="pack the programs' packages too, for containers without a network"
    )
    training = build.add_mutually_exclusive_group()
    add_path(
        training, "--training", "DIR",
        "publish this labelled set in place of public_data/ (default: replace a sample of drawn clips with a set "
        f"of {TRAINING_CLIPS}, generated once in a few minutes and kept in {FOLDER}/)",
    )  # fmt: skip
    training.add_argument(
        "--no-training", action="store_true", help="publish the sample: participants then have nothing to train on"
    )
    build.add_argument(
        "--stand-in", metavar="PHASE",
        help="pack the open phase's data in place of this one's; `bundle server replace` uploads the real data later",
    )  # fmt: skip
    key = build.add_mutually_exclusive_group()
    key.add_argument("--new-key", action="store_true", help="replace the seal key that is kept in private/")
    key.add_argument("--no-key", action="store_true", help="pack no seal key: reports then say that runs are unsealed")
    build.add_argument(
        "--format", choices=("codabench-v2", "codalab-v1"), default="codabench-v2",
        help="codalab-v1: the form of CodaLab, which Codabench converts (default: codabench-v2)",
    )  # fmt: skip
    build.add_argument(
        "--baselines",
        action="store_true",
        help="first run the solutions and compute the landmarks again, which takes minutes",
    )
    add_bundle(build)
    build.set_defaults(action=_build)


def _image(text: str) -> str:
    if not IMAGE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected a name with an exact version, such as you/name:1.0; found {text!r}")
    return text


def _build(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    options = Options(
        out=arguments.out,
        start=arguments.start,
        image=arguments.image,
        training=arguments.training or _drawn(root, wanted=not arguments.no_training),
        wheels=arguments.wheels,
        key=not arguments.no_key,
        new_key=arguments.new_key,
        version1=arguments.format == "codalab-v1",
        stand_in=arguments.stand_in,
    )
    if arguments.baselines:
        compute_again(root, None, None, [])
    for finding in build(root, options):
        for line in finding.lines():
            say(line)
    say(f"Built: {options.out}")
    return 0


def _drawn(root: Path, *, wanted: bool) -> Path | None:
    """Return the folder of a drawn training set if the public data are only a sample; warn if there will be none."""
    if not needs_training_set(root):
        return None
    if not wanted:
        say("WARNING: public_data/ is a sample of a few clips: nobody can train on it. Leave out --no-training.")
        return None
    if not (root / FOLDER).exists():
        say(f"Drawing {TRAINING_CLIPS} training clips, once: they are kept in {root / FOLDER}.")
    with progress_bar("training clips") as progress:
        return training_set(root, workers(), progress)
