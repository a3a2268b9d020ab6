"""Run a submission at home with the very programs of the competition: python3 run.py my_submission [--out my_run]."""

import argparse
import shutil
import subprocess
import sys
import tempfile
import webbrowser
import zipfile
from pathlib import Path

from doctor import ROOT, UNPACKING, Looked, look_over, why_not_there
from few import keep_clips


def main() -> int:
    """Look the submission over, predict and explain the practice clips, score the result, and show the report.

    Returns
    -------
    int
        0 if there are scores, else 1.
    """
    parser = argparse.ArgumentParser(description="Run a submission on the practice clips and score it.")
    parser.add_argument("submission", type=Path, help="the folder that holds model.py, or a zip of its content")
    parser.add_argument("--out", type=Path, default=Path("my_run"), help="where results go (default: %(default)s)")
    parser.add_argument("--clips", type=int, help="take the first clips only, such as 3: to see whether it works")
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    arguments = parser.parse_args()
    given: Path = arguments.submission
    if not given.is_dir() and not zipfile.is_zipfile(given):
        parser.error(why_not_there(given))
    if arguments.clips is not None and arguments.clips < 1:
        parser.error("--clips: expected at least 1")
    out: Path = arguments.out.resolve()
    if out.exists() and any(out.iterdir()) and not (out / "input" / "res").is_dir():
        parser.error(f"{out} holds other things; name an empty or a new folder with --out")

    looked = look_over(given)
    for finding in looked.findings:
        sys.stdout.write(finding.line() + "\n")
    sys.stdout.flush()
    if any(finding.code == "model_missing" for finding in looked.findings):
        sys.stdout.write("Nothing was run, and earlier results are as they were.\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder) / "submission"
        try:
            _unpack(given, looked, submission)
        except UNPACKING as error:
            parser.error(f"{given} cannot be unpacked ({error}); pack it again, without a password")
        shutil.rmtree(out, ignore_errors=True)
        inputs, reference = ROOT / "input_data/practice", ROOT / "reference_data/practice"
        if arguments.clips:
            inputs, reference = keep_clips(inputs, reference, arguments.clips, Path(folder))
        program = ROOT / "ingestion_program"
        _python(program / "ingestion.py", inputs, out / "input/res", program, submission)
        shutil.copytree(reference, out / "input/ref")
    _python(ROOT / "scoring_program/scoring.py", out / "input", out / "output")

    report, scores = out / "output/detailed_results.html", out / "output/scores.json"
    if arguments.clips and scores.is_file():
        sys.stdout.write(
            "So few clips tell whether it works, not how good it is: run all of them before you compare.\n"
        )
    if report.is_file():
        sys.stdout.write(f"Report: {report}\n")
        if arguments.open:
            webbrowser.open(report.as_uri())
    return 0 if scores.is_file() else 1


def _unpack(given: Path, looked: Looked, submission: Path) -> None:
    """Put the submission where it runs: of a folder, the files that would be packed."""
    if not given.is_dir():
        shutil.unpack_archive(given, submission, "zip")
        return
    for name in looked.packed:
        (submission / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(given / name, submission / name)


def _python(script: Path, *arguments: Path) -> None:
    """Run one of the two programs; what it has to say, it prints."""
    arguments[1].mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(script), *map(str, arguments)], check=False)  # noqa: S603 - no shell


if __name__ == "__main__":
    sys.exit(main())
