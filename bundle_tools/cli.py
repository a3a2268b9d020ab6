"""The `bundle` command."""

import argparse
import json
import os
import secrets
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from bundle_tools.build import Options, build
from bundle_tools.check import check
from bundle_tools.competition import find_root, load
from bundle_tools.console import progress_bar, say
from bundle_tools.emulator.engine import DockerEngine, Engine, ProcessEngine
from bundle_tools.emulator.run import run_submission
from bundle_tools.emulator.scores import row
from bundle_tools.errors import BundleError

TRAINING_CLIPS = 240
PHASE_CLIPS = 24
SEED_BITS = 128

DESCRIPTION = """\
Run, check and build the competition bundle.

  bundle run SUBMISSION [--phase practice] [--out DIR]   run a submission as Codabench would; print its leaderboard row
  bundle check [PATH]                                    tell everything that is wrong with a bundle (folder or zip)
  bundle build [--out dist/bundle.zip]                   check, then write the zip to upload
  bundle data synth --clips N --seed S --out DIR         make a labelled set of synthetic clips
  bundle data phase NAME [--clips N] [--replace]         make new clips and labels of a phase, with a secret seed
  bundle data committed                                  make the data of this repository again

SUBMISSION is a folder with model.py, or its zip. `bundle COMMAND --help` tells the other options.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    int
        0 when it did what was asked; 1 when not, with the reason on the last line; 130 when interrupted.
    """
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.action(arguments))
    except BundleError as error:
        sys.stderr.write(f"bundle: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("bundle: interrupted.\n")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bundle",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", help=argparse.SUPPRESS)

    run = commands.add_parser("run", prog="bundle run", help="run a submission as Codabench would")
    run.add_argument("submission", type=Path, help="a folder with model.py, or its zip")
    run.add_argument("--phase", default="practice", help="name of the phase (default: practice)")
    run.add_argument("--out", type=Path, help="folder of the results (default: runs/<submission>-<phase>)")
    run.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")
    run.add_argument("--engine", choices=("process", "docker"), default="process", help="where the programs run")
    run.add_argument("--image", help="image of the docker engine (default: the one in competition.yaml)")
    run.add_argument("--network", action="store_true", help="docker engine: let the containers reach the network")
    run.set_defaults(action=_run)

    check = commands.add_parser("check", prog="bundle check", help="tell everything that is wrong with a bundle")
    check.add_argument("path", type=Path, nargs="?", help="folder or zip (default: this bundle)")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(action=_check)

    build = commands.add_parser("build", prog="bundle build", help="check, then write the zip to upload")
    build.add_argument("--out", type=Path, default=Path("dist/bundle.zip"), help="the zip (default: dist/bundle.zip)")
    build.add_argument(
        "--start", type=_moment, help='move all dates so that the first phase starts then, UTC: "2026-12-01 12:00:00"'
    )
    build.add_argument(
        "--training-clips",
        type=_count,
        default=TRAINING_CLIPS,
        help="clips of the public training set; 0 packs the small committed sample (default: %(default)s)",
    )
    build.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")
    build.set_defaults(action=_build)

    data = commands.add_parser("data", prog="bundle data", help="make data")
    kinds = data.add_subparsers(required=True, metavar="KIND")
    synth = kinds.add_parser("synth", prog="bundle data synth", help="a labelled set of synthetic clips")
    synth.add_argument("--clips", type=_positive, required=True, help="how many")
    synth.add_argument("--seed", type=_count, required=True, help="the same seed gives the same bytes")
    synth.add_argument("--out", type=Path, required=True, help="a folder that is empty or does not exist yet")
    synth.set_defaults(action=_synth)
    phase = kinds.add_parser("phase", prog="bundle data phase", help="new clips and labels of a phase of this bundle")
    phase.add_argument("phase", help="name of the phase, e.g. final")
    phase.add_argument("--clips", type=_positive, default=PHASE_CLIPS, help="how many (default: %(default)s)")
    phase.add_argument("--seed", type=_count, help="keep it secret: it gives the labels (default: a new random one)")
    phase.add_argument("--replace", action="store_true", help="replace the clips and labels that are there")
    phase.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")
    phase.set_defaults(action=_phase)
    committed = kinds.add_parser("committed", prog="bundle data committed", help="the data in this repository, again")
    committed.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")
    committed.set_defaults(action=_committed)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    competition = load(find_root(arguments.bundle))
    phase = competition.phase(arguments.phase)
    submission: Path = arguments.submission
    out: Path = arguments.out or Path("runs") / f"{submission.resolve().stem}-{phase.slug}"
    engine: Engine = ProcessEngine()
    if arguments.engine == "docker":
        engine = DockerEngine(arguments.image or competition.docker_image, arguments.network)
    result = run_submission(competition, phase, submission, out, engine)
    say()
    say(f"Leaderboard row ({phase.name})")
    for line in row(result.scores, competition.columns):
        say(line)
    if result.report is not None:
        say(f"Report: {result.report}")
    elif competition.detailed_results:
        say("Warning: no detailed_results.html, so the platform would show no report.")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    path: Path = arguments.path or find_root()
    if not path.exists():
        raise BundleError(f"{path}: expected a folder or a zip, found nothing there.")
    findings = check(path)
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


def _build(arguments: argparse.Namespace) -> int:
    options = Options(arguments.out, arguments.start, arguments.training_clips, _workers())
    for finding in build(find_root(arguments.bundle), options):
        for line in finding.lines():
            say(line)
    say(f"Built: {options.out}")
    return 0


def _synth(arguments: argparse.Namespace) -> int:
    from bundle_tools.synth.dataset import write_training  # noqa: PLC0415 - loads OpenCV

    out: Path = arguments.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
    with progress_bar("clips") as progress:
        write_training(out, clips=arguments.clips, seed=arguments.seed, workers=_workers(), progress=progress)
    say(f"{arguments.clips} clips, labels and transcripts: {out}")
    return 0


def _phase(arguments: argparse.Namespace) -> int:
    from bundle_tools.synth.dataset import write_phase  # noqa: PLC0415 - loads OpenCV

    phase = load(find_root(arguments.bundle)).phase(arguments.phase)
    given, wanted = phase.task.input_data, phase.task.reference_data
    if given is None or wanted is None or given.is_file() or wanted.is_file():
        raise BundleError(f"phase {phase.slug}: expected folders as input and reference data. Add them to its task.")
    if (given / "clips").exists() and not arguments.replace:
        raise BundleError(f"{given / 'clips'} exists already. Add --replace if its clips and labels may be lost.")
    seed: int = secrets.randbits(SEED_BITS) if arguments.seed is None else arguments.seed
    try:
        with progress_bar("clips") as progress:
            write_phase(
                phase.slug,
                clips=arguments.clips,
                seed=seed,
                input_dir=given,
                reference_dir=wanted,
                workers=_workers(),
                progress=progress,
            )
    except ValueError as error:
        raise BundleError(f"phase {phase.slug}: {error}.") from error
    say(f"{arguments.clips} clips of phase {phase.slug} with the seed {seed}. Whoever knows it can make the labels.")
    return 0


def _committed(arguments: argparse.Namespace) -> int:
    from bundle_tools.synth.dataset import write_committed  # noqa: PLC0415 - loads OpenCV

    root = find_root(arguments.bundle)
    with progress_bar("clips") as progress:
        write_committed(root, workers=_workers(), progress=progress)
    say(f"Made again: input_data/, reference_data/ and public_data/ in {root}")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number such as 240; found {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if _count(text) == 0:
        raise argparse.ArgumentTypeError("expected at least 1; found 0")
    return int(text)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise argparse.ArgumentTypeError(f'expected UTC without a zone, such as "2026-12-01 12:00:00"; found {text!r}')
    return moment


def _workers() -> int:
    return os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
