"""All steps from ``input/`` to scores, and what happens when a step fails.

Everything that can make a run "Failed" happens before labels are used. After that the exit code is 0 except for a full
disk: a failed run costs no attempt, so failing must not depend on labels. Messages of exceptions are never shown,
because they may quote a label.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from score import DEFAULTS, PROGRAM
from score.columns import Column, columns, spread_decimals
from score.errors import OrganiserError, Problem, ScoringError, internal_problem
from score.evaluate import Evaluation, evaluate, worst_values
from score.landmarks import read_key_frames, read_landmarks
from score.messages import NOBODY, Audience, lines, of_problems, of_run, say, speak_utf8
from score.read.known import read_known
from score.read.manifest import read_key
from score.read.outcomes import join
from score.read.reference import read_jury, read_reference
from score.read.results import read_results
from score.read.run import Facts, read_submission_metadata, read_worker_notes
from score.read.tables import parse_object, read_hashes
from score.report.gate import redact, redact_numbers
from score.report.write import early_page, failure_page, last_page, report_page
from score.run import Run, ScoredRun
from score.settings import read_settings

_RESULT_FILES = ("scores.json", "scores.txt", "detailed_results.html")
_PAGE = "detailed_results.html"
_BROKE_DOWN = "The computation failed, so every score has its worst value."
_WORST = "worst scores"
_NO_REPORT = "The scores were written, but the report could not be made."
_SCORED = "scored, without a report"
_OURS = "The scoring program failed."

Result = TypeVar("Result")
Default = TypeVar("Default")
Scores = dict[str, float | int]


def main(arguments: Sequence[str]) -> int:
    """Score one run.

    `arguments`: input and output folder; both may be left out. Returns 0 if scores are written, 1 if the results
    cannot be judged, 2 if the organiser's side is at fault.
    """
    speak_utf8()
    if len(arguments) > 2:
        say("usage: scoring.py [INPUT [OUTPUT]]", sys.stderr)
        return OrganiserError.exit_code
    source, target = (Path(path) for path in (*arguments, *DEFAULTS[len(arguments) :]))
    started = time.monotonic()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in _RESULT_FILES:  # files of an earlier run must not be taken for this run's
            (target / name).unlink(missing_ok=True)
        code = _run(source, target)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        say(f"ERROR: reading or writing failed: {reason}", sys.stderr)
        return OrganiserError.exit_code
    except Exception as error:  # noqa: BLE001 - as above; only what comes before the labels gets here
        _say_failure(internal_problem(error))
        return OrganiserError.exit_code
    say(f"Scoring took {time.monotonic() - started:.1f} s.")
    return code


def _run(source: Path, target: Path) -> int:
    worker: Facts = attempt(lambda: (*read_worker_notes(source / "res").facts, *read_submission_metadata(source)), ())
    readers = _Readers()
    try:
        run = replace(prepare(source, readers), worker=worker)
    except ScoringError as error:
        return _give_up(error, target, worker, readers)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and its message may quote a label
        return _give_up(OrganiserError(_OURS, [internal_problem(error)]), target, worker, readers)
    problems: list[Problem] = []
    attempt(lambda: score_run(run, target), None, problems, passing=OSError)
    for problem in problems:
        _say_failure(problem)
    return 0


@dataclass
class _Readers:
    """What is known about the readers so far, so that messages about failures respect it."""

    audience: Audience = NOBODY
    heading: str = ""
    """Names of the challenge and the phase."""


def prepare(source: Path, readers: _Readers | None = None, *, full: bool = False) -> Run:
    """Read and check all input, without comparing predictions and labels.

    `source`: the folder with ``ref`` and ``res``. `full`: whether to open everything, for a page that only the
    organisers of a closed phase read. Raises ScoringError if there is nothing to score, and why.
    """
    readers = readers or _Readers()
    public = read_settings(source / "ref" / "task.yaml")
    settings = public.opened() if full else public
    readers.audience, readers.heading = Audience(settings.report.clips), settings.heading
    reference = read_reference(source / "ref" / "labels.csv", settings)
    readers.audience = readers.audience.knowing(reference.clip_ids)
    known = read_known(source / "ref", settings, reference)
    landmarks = read_landmarks(source / "ref", settings)
    ratings = read_jury(source / "ref" / settings.jury) if settings.jury else {}
    results = read_results(source / "res", settings, read_key(PROGRAM), len(reference.clip_ids))
    readers.audience = readers.audience.knowing(results.clips)
    frames = read_key_frames(source / "ref", settings.report.key_frames, reference.clip_ids)
    outcomes = join(results, reference, settings, known)
    return Run(
        settings=settings,
        results=results,
        outcomes=replace(outcomes, warnings=(*outcomes.warnings, *frames.problems)),
        jury=ratings.get(results.rated_as),
        landmarks=landmarks,
        key_frames=frames,
        hashes=read_hashes(source / "ref"),
        private=full and not public.report.truth,
    )


def page_again(source: Path, *, full: bool = False) -> str:
    """Make the page of a run again, at home; problems are raised with their messages.

    The parameters and errors are those of `prepare`.
    """
    run = replace(prepare(source, full=full), worker=read_worker_notes(source / "res").facts)
    return report_page(redact(scored(run, _evaluate(run)[0], of_run(run.results, run.outcomes, run.audience))))


def scored(run: Run, evaluation: Evaluation, problems: Sequence[Problem] = ()) -> ScoredRun:
    """Add the numbers of a run, and the problems as its readers may see them."""
    return ScoredRun(**vars(run), evaluation=evaluation, problems=problems)


def score_run(run: Run, target: Path) -> None:
    """Compute, report and write, with a fallback at each step; only a full disk makes this fail.

    A first page without scores is written at the start; the platform shows it until the next one comes. Pages and
    scores are complete texts before the first byte is written, so that errors while writing cannot depend on labels.
    """
    settings, outcomes, facts = run.settings, run.outcomes, run.results.run
    disturbed = facts.not_comparable
    ours: list[Problem] = []
    problems: Sequence[Problem] = attempt(lambda: of_run(run.results, outcomes, run.audience), ())
    early = attempt(lambda: early_page(run, problems), "")
    if early:
        write_atomically(target / _PAGE, early)
    evaluation, scores = attempt(lambda: _evaluate(run), (None, None), ours)
    if evaluation is None or scores is None:
        scores = attempt(lambda: worst_values(settings, outcomes, facts.duration_s, not_comparable=disturbed), None)
        page = ""
    else:
        page = attempt(lambda: report_page(redact(scored(run, evaluation, problems))), "", ours)
    if not page:
        problems = (*of_problems(ours, run.audience), *problems)
        headline, band = (_NO_REPORT, _SCORED) if evaluation else (_BROKE_DOWN, _WORST)
        page = attempt(lambda: failure_page(headline, problems, run.worker, settings.heading, band), "")
    write_atomically(target / _PAGE, page or last_page(_BROKE_DOWN))
    if scores is not None:
        unwritten: list[Problem] = []
        attempt(lambda: write_scores(target, scores, columns(settings)), None, unwritten, passing=OSError)
        problems = (*unwritten, *problems)
    attempt(lambda: _say_scores(run, evaluation and redact_numbers(evaluation, settings), problems), None)


def attempt(
    step: Callable[[], Result],
    default: Default,
    problems: list[Problem] | None = None,
    passing: type[Exception] | tuple[()] = (),
) -> Result | Default:
    """Run a step; if it fails, return the default and add the problem, without the exception's message, to the list."""
    try:
        return step()
    except passing:
        raise
    except Exception as error:  # noqa: BLE001 - see the module's first lines
        if problems is not None:
            problems.append(internal_problem(error))
        return default


def _say_failure(problem: Problem) -> None:
    say(f"ERROR: {attempt(problem.line, '') or _OURS}", sys.stderr)


def _evaluate(run: Run) -> tuple[Evaluation, Scores]:
    facts = run.results.run
    evaluation = evaluate(run.outcomes, run.settings, facts.duration_s, run.jury, not_comparable=facts.not_comparable)
    scores = {column.key: column.rounded(estimate.value) for column, estimate in evaluation.columns}
    check_scores(scores, columns(run.settings))
    return evaluation, scores


def _give_up(error: ScoringError, target: Path, worker: Facts, readers: _Readers) -> int:
    problems = of_problems(error.problems, readers.audience)
    say(f"ERROR: {error.headline}", sys.stderr)
    for line in lines(problems):
        say(line, sys.stderr)
    page = attempt(lambda: failure_page(error.headline, problems, worker, readers.heading), "")
    write_atomically(target / _PAGE, page or last_page(error.headline))
    return error.exit_code


def _say_scores(run: Run, evaluation: Evaluation | None, problems: Sequence[Problem]) -> None:
    settings, outcomes = run.settings, run.outcomes
    for line in lines(problems):
        say(line)
    say(f"{settings.task}: {len(outcomes.clip_ids)} clips, {outcomes.count('ok')} ok, {outcomes.failed} failed.")
    if evaluation and (interval := evaluation.columns[0][1].interval):
        first = evaluation.columns[0][0]
        places = spread_decimals(first, open_=settings.report.truth)
        low, high = (round(end, places) + 0.0 for end in interval)
        level = f"{100 * settings.bootstrap.level:g} %"
        if low < high:  # else there are too few digits, or people, for one
            say(f"{first.title}: {level} interval {low:.{places}f} to {high:.{places}f}.")


_LARGEST_SCORES = 2**20
_LARGEST_STORED = 1e10  # the leaderboard rejects numbers with eleven digits before the point


def write_atomically(path: Path, text: str) -> None:
    """Write a text atomically: the platform reads while we write, and must see the old file or the whole new one."""
    draft = path.with_name(f".{path.name}.tmp")
    draft.unlink(missing_ok=True)  # left by a killed run; mode "x" below follows no link
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # a full disk leaves no partial file, under any name
        raise


def check_scores(scores: dict[str, float | int], registry: tuple[Column, ...]) -> None:
    """Check that the scores are exactly the columns, each finite and inside its bounds.

    Raises ValueError naming the column, never the value.
    """
    keys = {column.key for column in registry}
    if len(keys) != len(registry) or scores.keys() != keys:
        raise ValueError(f"scores {sorted(scores)} do not match the columns {sorted(keys)}")
    for column in registry:
        value = scores[column.key]
        upper = _LARGEST_STORED if column.maximum is None else column.maximum
        if not math.isfinite(value) or not column.minimum <= value <= upper:
            raise ValueError(f"{column.key} is outside {column.minimum} to {upper}")


def write_scores(folder: Path, scores: dict[str, float | int], registry: tuple[Column, ...]) -> None:
    """Write ``scores.txt`` and then, as the very last file, ``scores.json``, and read it back.

    `registry`: the columns, in leaderboard order. Raises ValueError if the scores are not exactly the columns, each
    finite and inside its bounds. Nothing is written then.
    """
    check_scores(scores, registry)
    ordered = {column.key: scores[column.key] for column in registry}
    text = json.dumps(ordered, indent=2) + "\n"
    if parse_object(text.encode(), _LARGEST_SCORES) != ordered:
        raise ValueError("scores.json would not read back as written")
    write_atomically(folder / "scores.txt", "".join(f"{key}: {value}\n" for key, value in ordered.items()))
    write_atomically(folder / "scores.json", text)
    if parse_object((folder / "scores.json").read_bytes(), _LARGEST_SCORES) != ordered:
        (folder / "scores.json").unlink()  # no scores are better than wrong ones
        raise ValueError("scores.json did not read back as written")
