"""Run, check, pack and compare submissions. Without arguments, show the first steps."""

import argparse
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import programs
from ingest.errors import visible
from ingest.log import speak_utf8
from runs import PRINTED, REPORT, Once, ProgressLines, finished, new_folder, run, score_lines
from submission import CheckResult, Refused, check, counted, pack, require

FIRST_STEPS = """\
First steps, in the folder of this kit (README.md has more):

  python3 kit.py run template                 run an example as the platform does, and show where its report is
  cp -r template my_submission                start your own submission
  python3 kit.py check my_submission          list all problems and their fixes; --run 3 also runs three clips
  python3 kit.py run my_submission            run and score it; results are kept in runs/
  python3 kit.py compare runs/one runs/two    show whether one run is better by more than luck
  python3 kit.py diagnose runs/one            show cue by cue what it claimed and what moved its predictions
  python3 kit.py pack my_submission           check it, then write the zip to upload
  python3 kit.py submit my_submission.zip LINK send it, wait, and fetch its scores, report and log
  python3 kit.py read "TEXT"                  show what the scoring program reads in an explanation's text
"""
SHOWN = 10
"""Lines that are shown of what a model printed while it was tried out."""
NOT_RUN = "Nothing was run: correct the errors first."
WARNED = ", but see the warnings above."
LOOKED_FOR = "names, sizes, secrets, syntax, imports, class Model"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for.

    Returns 0 for success, 1 if the submission needs correcting, 2 for a wrong command.
    """
    speak_utf8()
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        _say(FIRST_STEPS.rstrip())
        return 0
    options = _parser().parse_args(words)
    try:
        return int(options.action(options))
    except Refused as error:
        sys.stderr.write(f"kit.py: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kit.py", description=FIRST_STEPS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    runs = _command(commands, "run", "Run a submission on the practice clips, and score it.", "my_submission --open")
    runs.add_argument(
        "--name", metavar="NAME", help="keep the run as runs/NAME (default: the submission's name, numbered if taken)"
    )
    runs.add_argument(
        "--clips", metavar="N", type=_positive, help="run only the first N clips, to see whether it works"
    )
    runs.add_argument("--open", action="store_true", help="open the report in a browser")
    checks = _command(
        commands, "check", "List every problem of a submission and how to fix it.", "my_submission --run 3"
    )
    checks.add_argument("--run", metavar="N", type=_positive, help="also run the first N clips, such as 3")
    packs = _command(commands, "pack", "Check a submission, then write the zip to upload.", "my_submission")
    packs.add_argument(
        "--out", metavar="FILE", type=Path, help="the zip to write (default: the folder's name with .zip)"
    )
    for command, action in ((runs, _run), (checks, _check), (packs, _pack)):
        command.add_argument("submission", metavar="SUBMISSION", type=Path, help="a folder with model.py, or its zip")
        command.set_defaults(action=action)
    submits = _command(
        commands, "submit", "Submit a zip, wait for its scores, and fetch report and log; nothing is sent twice.",
        'my_submission.zip "https://www.codabench.org/competitions/1234/"',
    )  # fmt: skip
    submits.add_argument("zip", metavar="ZIP", type=Path, help="as `kit.py pack` writes it")
    submits.add_argument(
        "link", metavar="LINK", help="the competition's address; your token comes from CODABENCH_TOKEN"
    )
    submits.add_argument("--phase", metavar="PHASE", help="such as practice (default: the open one)")
    submits.add_argument("--out", metavar="DIR", type=Path, help="default: a folder in submitted/")
    submits.add_argument("--wait", metavar="S", type=_positive, default=7200, help="seconds (default: %(default)s)")
    submits.add_argument("--again", action="store_true", help="submit the same zip once more")
    submits.set_defaults(action=_submit)
    compares = _command(
        commands, "compare", "Show which runs are better than the first by more than luck.", "runs/one runs/two"
    )
    compares.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a folder written by `kit.py run`")
    compares.set_defaults(action=_compare)
    diagnoses = _command(
        commands, "diagnose", "Show cue by cue what a run claimed and what moved its predictions.", "runs/one"
    )
    diagnoses.add_argument("run", metavar="RUN", type=Path, help="a folder written by `kit.py run`")
    diagnoses.set_defaults(action=_diagnose)
    reads = _command(
        commands, "read", "Show what the scoring program reads in an explanation's text.", '"A smile raised the score."'
    )
    reads.add_argument("text", metavar="TEXT")
    reads.set_defaults(action=_read)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, does: str, example: str
) -> argparse.ArgumentParser:
    ending = f"Example:\n  python3 kit.py {name} {example}\n"
    form = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=does, description=does, epilog=ending, formatter_class=form)


def _run(args: argparse.Namespace) -> int:
    checked = _look(args.submission)
    out = new_folder(args.submission, args.name)
    if not checked.runs:
        _say(NOT_RUN)
        return 1
    log = Once(ProgressLines(), checked.repeated, args.clips)
    scored = run(args.submission, checked, out, args.clips, log)
    for line in score_lines(out) if scored else ():
        _say(line)
    if scored and args.clips:
        _say(
            "These few clips show whether it works, not how good it is. To measure and compare, run all: "
            f"python3 kit.py run {args.submission}"
        )
    if (out / PRINTED).is_file():
        _say(f"What the model printed: {out / PRINTED}")
    report = out / REPORT
    if report.is_file():
        _say(f"Report: {report}")
        if args.open:
            webbrowser.open(report.resolve().as_uri())
    elif scored:
        earlier = finished(args.submission, out)
        if earlier:
            _say(f"Is it better than before? python3 kit.py compare {earlier[-1]} {out}")
        _say("Next: open the report (or use --open), change the model, and run it again: `compare` tells runs apart.")
    return 0 if scored else 1


def _check(args: argparse.Namespace) -> int:
    checked = _look(args.submission)
    _say(f"{args.submission}: {checked.verdict()}")
    if checked.packed:
        sources = sum(name.endswith(".py") for name in checked.packed)
        files = f"{counted(len(checked.packed), 'file')}, {sources} of them Python"
        _say(f"Checked {files}, without running them: {LOOKED_FOR}.")
    if not checked.runs:
        if args.run:
            _say(NOT_RUN)
        return 1
    if args.run:
        return 0 if _try_out(args.submission, checked, args.run) and checked.good else 1
    _say(f"To see what the model answers, and how fast: python3 kit.py check {args.submission} --run 3")
    return 0 if checked.good else 1


def _try_out(submission: Path, checked: CheckResult, clips: int) -> bool:
    """Run a few clips and print everything but the scores; return whether all went well."""
    log = Once(ProgressLines(), checked.repeated, clips)
    with tempfile.TemporaryDirectory() as folder:
        scored = run(submission, checked, Path(folder) / "run", clips, log)
        printed = Path(folder) / "run" / PRINTED
        for line in printed.read_text("utf-8").splitlines()[-SHOWN:] if printed.is_file() else ():
            _say(f"[model] {visible(line)}")
    if not scored or log.levels["ERROR"]:
        _say("It does not work yet: see the problems above.")
        return False
    _say(f"It works{WARNED if log.levels else '.'} To see its scores, run all clips: python3 kit.py run {submission}")
    return True


def _pack(args: argparse.Namespace) -> int:
    if args.submission.is_file():
        raise Refused(f"{args.submission} is a file: pack the folder instead")
    checked = _look(args.submission)
    _say(f"{args.submission}: {checked.verdict()}")
    if not checked.good:
        return 1
    folder = args.submission.resolve()
    out: Path = args.out or folder.with_name(folder.name + ".zip")
    # An earlier zip in the folder does not belong to the submission.
    packed = tuple(name for name in checked.packed if (folder / name).resolve() != out.resolve())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(pack(folder, replace(checked, packed=packed)))
    taken = out.stat().st_size
    size = f"{taken / 1e6:.2f} MB" if taken >= 1e5 else f"{taken / 1e3:.1f} kB"
    _say(f"Packed {counted(len(packed), 'file')}, {size}: {out}")
    return 0


def _submit(args: argparse.Namespace) -> int:
    from submit import submit  # noqa: PLC0415 - it imports parts of scoring

    if not args.zip.is_file():
        raise Refused(f"{args.zip}: expected a zip, found none: python3 kit.py pack writes it")
    if not _look(args.zip).good:
        _say("Nothing was sent: correct the errors first.")
        return 1
    return submit(args.zip, args.link, args.phase, args.out, args.wait, _say, again=args.again)


def _compare(args: argparse.Namespace) -> int:
    from compare import compare  # noqa: PLC0415 - it imports all of scoring

    return _say_lines(lambda: compare(args.runs))


def _diagnose(given: argparse.Namespace) -> int:
    from compare import diagnose  # noqa: PLC0415 - as above

    return _say_lines(lambda: diagnose(given.run))


def _say_lines(make: Callable[[], list[str]]) -> int:
    from compare import Incomparable  # noqa: PLC0415 - as above

    try:
        lines = make()
    except Incomparable as error:
        for problem in error.args:
            _say(f"{problem}.")
        return 1
    for line in lines:
        _say(line)
    return 0


def _read(args: argparse.Namespace) -> int:
    from score.settings import read_settings  # noqa: PLC0415 - scoring's, as above
    from score.text import parse_claims, parse_levels, text_validity  # noqa: PLC0415
    from score.text.reading import vocabulary_of  # noqa: PLC0415

    words = vocabulary_of(read_settings(programs.REFERENCE_DATA / "task.yaml"))
    claims = [
        f"claim: {claim.cue} {'raised' if claim.sign > 0 else 'lowered'} {claim.target}"
        for claim in parse_claims(args.text, words)
    ]
    levels = [f"level: {level.target} is {level.level}" for level in parse_levels(args.text, words)]
    wrong = [f"not valid: {why}" for why in text_validity(args.text)]
    for line in (*(claims or ["no claim"]), *(levels or ["no level"]), *wrong):
        _say(line)
    return 0


def _look(submission: Path) -> CheckResult:
    """Check a submission and print the findings."""
    require(submission)
    checked = check(submission)
    for finding in checked.findings:
        _say(finding.line())
    return checked


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least 1; found {text!r}")
    return int(text)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
