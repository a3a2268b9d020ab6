"""Run a submission at home with the very programs of the competition: python3 run.py my_submission [--out my_run]."""

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In the starting kit the programs lie beside this file; in the repository one level up.
ROOT = HERE if (HERE / "ingestion_program").is_dir() else HERE.parent

# What unpacking raises for a zip that is damaged, has a password, or names places where nothing can be written.
UNPACKING = (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError)


def main() -> int:
    """Predict and explain the practice clips, score the result, and say where the report is.

    Returns
    -------
    int
        0 if there are scores, else 1.
    """
    parser = argparse.ArgumentParser(description="Run a submission on the practice clips and score it.")
    parser.add_argument("submission", type=Path, help="the folder that holds model.py, or a zip of its content")
    parser.add_argument("--out", type=Path, default=Path("my_run"), help="where results go (default: %(default)s)")
    arguments = parser.parse_args()
    given: Path = arguments.submission
    if not given.is_dir() and not zipfile.is_zipfile(given):
        parser.error(f"{given} is neither a folder nor a zip")
    out: Path = arguments.out.resolve()
    if out.exists() and any(out.iterdir()) and not (out / "input" / "res").is_dir():
        parser.error(f"{out} holds other things; name an empty or a new folder with --out")

    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder) / "submission"
        if given.is_dir():
            shutil.copytree(given, submission)
        else:
            try:
                shutil.unpack_archive(given, submission, "zip")
            except UNPACKING as error:
                parser.error(f"{given} cannot be unpacked ({error}); pack it again, without a password")
        shutil.rmtree(out, ignore_errors=True)
        program = ROOT / "ingestion_program"
        _python(program / "ingestion.py", ROOT / "input_data/practice", out / "input/res", program, submission)
    shutil.copytree(ROOT / "reference_data/practice", out / "input/ref")
    _python(ROOT / "scoring_program/scoring.py", out / "input", out / "output")

    report, scores = out / "output/detailed_results.html", out / "output/scores.json"
    if report.is_file():
        sys.stdout.write(f"Report: {report}\n")
    return 0 if scores.is_file() else 1


def _python(script: Path, *arguments: Path) -> None:
    """Run one of the two programs; what it has to say, it prints."""
    arguments[1].mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(script), *map(str, arguments)], check=False)  # noqa: S603 - no shell


if __name__ == "__main__":
    sys.exit(main())
