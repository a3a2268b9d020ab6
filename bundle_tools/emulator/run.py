"""One submission from its folder or zip to its leaderboard row."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_tools.archive import zip_folder
from bundle_tools.competition import Competition, Phase
from bundle_tools.console import say
from bundle_tools.emulator import jobs, scores
from bundle_tools.emulator.engine import Engine
from bundle_tools.errors import BundleError

# A folder that carries this file was made by `bundle run` and may be replaced by it.
MARKER = ".bundle-run"


@dataclass(frozen=True)
class Result:
    """A run that ended with a full row of scores."""

    scores: dict[str, Any]
    """Key of a column -> number."""
    report: Path | None
    """The detailed results that the platform would show; None where there are none."""


def run_submission(competition: Competition, phase: Phase, submission: Path, out: Path, engine: Engine) -> Result:
    """Run both jobs and leave `ingestion_output/`, `scoring_output/` and `logs/` in `out`.

    Raises
    ------
    BundleError
        When the run ends without a full row of scores; what was written until then stays in `out`.
    """
    if not submission.is_dir() and not submission.is_file():
        raise BundleError(f"{submission}: expected the folder or the zip of a submission, found nothing there.")
    _fresh(out, submission)
    logs = out / "logs"
    logs.mkdir()
    with tempfile.TemporaryDirectory(prefix=".work-", dir=out, ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        packed = submission
        if submission.is_dir():
            packed = work / "submission.zip"
            zip_folder(submission, packed)
        say(f"Ingestion: {submission.name} on phase {phase.name}")
        try:
            predicted = jobs.prediction_job(phase.task, packed, work / "1", engine, logs)
        finally:
            _keep(work / "1" / "app" / "output", out / "ingestion_output")
        if predicted.outcome is not None and predicted.outcome.exit_code != 0:
            say(f"Ingestion ended with exit code {predicted.outcome.exit_code}; the platform scores all the same.")
        _compare_with_limit("Ingestion", predicted, phase.time_limit_s)
        jobs.pack(out / "ingestion_output", work / "predictions.zip")
        say("Scoring")
        try:
            scored = jobs.scoring_job(phase.task, work / "predictions.zip", work / "2", engine, logs)
        finally:
            _keep(work / "2" / "app" / "output", out / "scoring_output")
        _compare_with_limit("Scoring", scored, phase.time_limit_s)
    return _judge(competition, scored.outcome.exit_code if scored.outcome else 1, out / "scoring_output")


def _judge(competition: Competition, exit_code: int, output: Path) -> Result:
    report = find_report(output) if competition.detailed_results else None
    if exit_code != 0:
        seen = f" Its report: {report}." if report else ""
        raise BundleError(f"The scoring program ended with exit code {exit_code}, so there is no score.{seen}")
    found = scores.read_scores(output)
    wrong = scores.problems(found, competition.columns)
    if wrong:
        raise BundleError(f"The scores are not one full row of the leaderboard: {'; '.join(wrong)}.")
    return Result(found, report)


def _compare_with_limit(name: str, job: jobs.Job, limit_s: int) -> None:
    """Say where the platform might have ended a job; whether it does cannot be relied on."""
    if job.outcome is not None and job.outcome.elapsed_s > limit_s:
        say(f"Warning: {name} took {job.outcome.elapsed_s:.1f} s, more than the phase's limit of {limit_s} s.")


def find_report(output: Path) -> Path | None:
    """Give the page that the platform would show: `detailed_results.html`, else any other page at the root."""
    pages = [output / "detailed_results.html", *sorted(output.glob("*.html"))]
    for page in pages:
        if page.is_file():
            if page.stat().st_size == 0:
                say(f"Warning: {page.name} is empty; on the platform its upload can hang the run.")
                return None
            return page
    return None


def _fresh(out: Path, submission: Path) -> None:
    """Make `out` an empty folder of ours; never delete what somebody else put there."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BundleError(f"--out {out}: expected a folder, found something else. Choose another folder.")
    if submission.is_dir() and out.resolve().is_relative_to(submission.resolve()):
        raise BundleError(f"--out {out}: lies inside the submission. Choose a folder elsewhere.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise BundleError(f"--out {out}: holds files that `bundle run` did not make. Choose another folder.")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("Made by `bundle run`; the next run into this folder replaces it.\n", encoding="utf-8")


def _keep(folder: Path, target: Path) -> None:
    if folder.is_dir():
        shutil.move(folder, target)
    else:
        target.mkdir()
