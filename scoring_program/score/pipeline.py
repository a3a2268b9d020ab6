"""From ``input/`` to scores, step by step, and what happens when a step fails.

Everything that can make a run "Failed" happens before a prediction meets a label. After that the exit code is 0
whatever happens, except for a full disk: a failed run costs no attempt, so failing must not depend on labels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from score import DEFAULTS
from score.columns import columns
from score.errors import OrganiserError, Problem, ScoringError, internal_problem
from score.evaluation import Evaluation, evaluate, worst_values
from score.outcomes import Outcomes, join
from score.reference import read_reference
from score.report.write import write_failure, write_report
from score.results import Results, read_results
from score.run_facts import read_worker_metadata
from score.scores import check_scores, write_scores
from score.seal import read_key
from score.settings import Settings, read_settings
from score.start import PROGRAM

_RESULT_FILES = ("scores.json", "scores.txt", "detailed_results.html")
_MOST_LINES = 50


@dataclass(frozen=True)
class Prepared:
    """Checked input, before anything is compared."""

    settings: Settings
    """Of the reference data."""
    results: Results
    """Of ingestion."""
    outcomes: Outcomes
    """One for each clip of the reference."""


def main(arguments: Sequence[str]) -> int:
    """Score one run.

    Parameters
    ----------
    arguments
        Input and output folder; both may be left out.

    Returns
    -------
    int
        0: scores are written. 1: the results cannot be judged. 2: the organiser's side is at fault.
    """
    if len(arguments) > 2:
        say("usage: scoring.py [INPUT [OUTPUT]]", sys.stderr)
        return OrganiserError.exit_code
    source, target = (Path(path) for path in (*arguments, *DEFAULTS[len(arguments) :]))
    started = time.monotonic()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in _RESULT_FILES:  # what an earlier run left must not pass for this one's
            (target / name).unlink(missing_ok=True)
        code = _run(source, target)
    except OSError as error:
        say(f"ERROR: reading or writing failed: {error.strerror or type(error).__name__}", sys.stderr)
        return OrganiserError.exit_code
    say(f"Scoring took {time.monotonic() - started:.1f} s.")
    return code


def say(line: str, stream: TextIO | None = None) -> None:
    """Print one line of the log, at once."""
    print(line, file=stream or sys.stdout, flush=True)


def _run(source: Path, target: Path) -> int:
    worker = read_worker_metadata(source / "res")
    try:
        prepared = prepare(source)
    except ScoringError as error:
        return _give_up(error, target, worker)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and its message may quote a label
        return _give_up(OrganiserError("The scoring program failed.", [internal_problem(error)]), target, worker)
    return judge(prepared, target, worker)


def prepare(source: Path) -> Prepared:
    """Read and check all input, without comparing predictions and labels.

    Raises
    ------
    ScoringError
        If there is nothing to score, and why.
    """
    settings = read_settings(source / "ref" / "task.yaml")
    reference = read_reference(source / "ref" / "labels.csv", settings)
    results = read_results(source / "res", settings, read_key(PROGRAM))
    return Prepared(settings, results, join(results, reference, settings))


def judge(prepared: Prepared, target: Path, worker: tuple[tuple[str, str], ...]) -> int:
    """Compute, report and write; always 0."""
    settings, outcomes, results = prepared.settings, prepared.outcomes, prepared.results
    page = target / "detailed_results.html"
    evaluation: Evaluation | None = None
    try:
        evaluation = evaluate(outcomes, settings, results.run.duration_s)
        scores = {column.key: column.rounded(estimate.value) for column, estimate in evaluation.columns}
        check_scores(scores, columns(settings))
    except Exception as error:  # noqa: BLE001 - see the module's first lines
        evaluation, scores = None, worst_values(settings, outcomes, results.run.duration_s)
        _report_failure(page, "The computation broke down, so every score is the worst one.", error, worker)
    try:
        if evaluation:
            write_report(page, results, outcomes, evaluation, settings, worker)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a report that breaks must not take the scores along
        _report_failure(page, "The scores were written, but this report could not be made.", error, worker)
    write_scores(target, scores, columns(settings))
    _say_scores(settings, outcomes, scores, evaluation)
    return 0


def _report_failure(page: Path, headline: str, error: Exception, worker: tuple[tuple[str, str], ...]) -> None:
    problems = [internal_problem(error)]
    _say_problems(problems)
    write_failure(page, headline, problems, worker)


def _give_up(error: ScoringError, target: Path, worker: tuple[tuple[str, str], ...]) -> int:
    say(f"ERROR: {error.headline}", sys.stderr)
    _say_problems(error.problems)
    write_failure(target / "detailed_results.html", error.headline, error.problems, worker)
    return error.exit_code


def _say_problems(problems: Sequence[Problem]) -> None:
    for problem in problems[:_MOST_LINES]:
        say("  - " + problem.line(), sys.stderr)
    if len(problems) > _MOST_LINES:
        say(f"  - and {len(problems) - _MOST_LINES} more", sys.stderr)


def _say_scores(
    settings: Settings, outcomes: Outcomes, scores: dict[str, float | int], evaluation: Evaluation | None
) -> None:
    for problem in outcomes.warnings:
        say("WARNING: " + problem.line())
    say(f"{settings.task}: {len(outcomes.clip_ids)} clips, {outcomes.count('ok')} ok, {outcomes.failed} failed.")
    estimates = {column.key: (column, estimate) for column, estimate in evaluation.columns} if evaluation else {}
    for key, value in scores.items():
        shown = ""
        if key in estimates and (interval := estimates[key][1].interval):
            low, high = (estimates[key][0].rounded(end) for end in interval)
            shown = f"  [{low}, {high}]"
        say(f"  {key}: {value}{shown}")
