"""`bundle check`, `build` and `pages`: what is wrong with a bundle, its zip, and its pages."""

import argparse
import contextlib
import gc
import json
import re
from collections.abc import Iterator
from pathlib import Path

from bundle_tools.challenge.build import FOLDER, TRAINING_CLIPS, BuildOptions, build, needs_training_set, training_set
from bundle_tools.challenge.check import check
from bundle_tools.challenge.landmarks import compute_again
from bundle_tools.challenge.pages.figures import figures
from bundle_tools.challenge.pages.write import open_bundle, pages_of, write_pages
from bundle_tools.challenge.reading.program_settings import asked_code
from bundle_tools.cli.options import add_bundle, add_command, add_path, add_trust, moment, workers
from bundle_tools.codabench.competition import find_root
from bundle_tools.codabench.trust import ensure_trusted
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError


def add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    check = add_command(
        commands, "check", "List everything that is wrong with a bundle, with the fix.", "\ndist/bundle.zip"
    )
    add_path(check, "path", "PATH", "folder or zip (default: the bundle in this folder, else the checkout)", nargs="?")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_trust(check)
    check.set_defaults(action=_check)


def _check(arguments: argparse.Namespace) -> int:
    path: Path = arguments.path or find_root()
    if not path.exists():
        raise BundleError(f"{path}: expected a folder or a zip, found nothing there.")

    with progress_bar("clips") as progress, _rarely_collected():
        findings = check(path, progress=progress, trust=arguments.trust)
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


# A name in lower case, perhaps with a server and folders, and a version or a digest.
IMAGE = re.compile(
    r"(?:[a-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9._-]+(?:/[a-z0-9._-]+)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})"
)


def add_build(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
        f"of {TRAINING_CLIPS}, generated once in a quarter of an hour and kept in {FOLDER}/)",
    )  # fmt: skip
    training.add_argument(
        "--no-training", action="store_true", help="publish the sample: participants then have nothing to train on"
    )
    build.add_argument(
        "--stand-in", metavar="PHASE",
        help="pack the open phase's data in place of this one's, and another seal key; "
        "`bundle server replace --bundle` uploads the real ones later",
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
        help="first run the solutions and compute the baselines again, which takes minutes",
    )
    add_bundle(build)
    build.set_defaults(action=_build)


def _image(text: str) -> str:
    if not IMAGE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected a name with an exact version, such as you/name:1.0; found {text!r}")
    return text


def _build(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    options = BuildOptions(
        out=arguments.out,
        start=arguments.start,
        image=arguments.image,
        training=arguments.training or _drawn(root, wanted=not arguments.no_training),
        wheels=arguments.wheels,
        key=not arguments.no_key,
        new_key=arguments.new_key,
        version1=arguments.format == "codalab-v1",
        stand_in=arguments.stand_in,
        trust=arguments.trust,
    )
    if arguments.baselines:
        compute_again(root, None, None, [], trust=arguments.trust)
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


def add_pages(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    pages = add_command(commands, "pages", "Bring pages up to date that nobody has edited by hand.", "\n--check")
    add_path(pages, "path", "PATH", "pages (default: all that competition.yaml names)", nargs="*")
    pages.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything is stale")
    pages.add_argument("--names", action="store_true", help="list the names for templates, with their figures")
    add_bundle(pages)
    pages.set_defaults(action=_pages)


def _pages(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    bundle = open_bundle(root, trust=arguments.trust)
    ensure_trusted(asked_code(bundle))
    if arguments.names:
        for name, value in figures(bundle).items():
            if isinstance(value, str):
                say(f"{name:<28} {value}")
        return 0
    only = [path.resolve() for path in arguments.path] or None
    pages = list(pages_of(bundle, only))
    notes = [note for page in pages for note in page.notes()]
    for line in notes if arguments.check else write_pages(root, only, trust=arguments.trust):
        say(line)
    problems = sum(bool(page.problem) for page in pages)
    stale = sum(page.is_stale and not page.problem for page in pages)
    edited = sum(page.is_stale and page.is_edited and not page.problem for page in pages)
    wrong = [f"pages that cannot be rendered: {problems}; correct what they name"] if problems else []
    wrong += [f"stale pages: {stale}; run `bundle pages`"] if stale and arguments.check else []
    if wrong:
        raise BundleError(f"{'. '.join(wrong)}. All are listed above.")
    kept = f" Edited by hand and no longer up to date: {edited}." if edited else ""
    say(f"Pages changed: {stale - edited}.{kept}" if stale else "All pages are current.")
    return 0
