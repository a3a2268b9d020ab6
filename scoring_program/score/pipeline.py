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
from score.messages import NOBODY, Audience, lines, of_problems, of_run, say, speak_utf8
from score.read.known import read_known
from score.read.landmarks import read_key_frames, read_landmarks
from score.read.manifest import read_key
from score.read.outcomes import Outcomes, join
from score.read.reference import JuryRating, read_jury, read_reference
from score.read.results import Results, read_results
from score.read.run import Facts, read_submission_metadata, read_worker_notes
from score.read.tables import parse_object, read_hashes
from score.report.gate import ReportExtras, may_show, may_tell
from score.report.write import early_page, failure_page, last_page, report_page
from score.settings import Settings, read_settings

_RESULT_FILES = ("scores.json", "scores.txt", "detailed_results.html")
_PAGE = "detailed_results.html"
_BROKE_DOWN = "The computation failed, so every score has its worst value."
_WORST = "worst scores"
_NO_REPORT = "The scores were written, but the report could not be made."
_SCORED = "scored, without a report"
_OURS = "The scoring program failed."

Made = TypeVar("Made")
Scores = dict[str, float | int]


@dataclass(frozen=True)
class Prepared:
    """Checked input, before anything is compared."""

    settings: Settings
    results: Results
    outcomes: Outcomes
    """One for each clip of the reference."""
    beside: ReportExtras
    jury: JuryRating | None = None
    """How people rated these explanations; None without a rating."""

    @property
    def audience(self) -> Audience:
        """Who will read the output."""
        results = self.results
        ids = {*self.outcomes.clip_ids, *results.clips, *results.predictions, *results.explanations, *results.probes}
        return Audience(self.settings.report.clips).knowing(ids)


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
    worker = _made(lambda: (*read_worker_notes(source / "res").facts, *read_submission_metadata(source)))[0] or ()
    context = _RunContext()
    try:
        prepared = prepare(source, context)
    except ScoringError as error:
        return _give_up(error, target, worker, context)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and its message may quote a label
        return _give_up(OrganiserError(_OURS, [internal_problem(error)]), target, worker, context)
    _, failure = _made(lambda: judge(prepared, target, worker), passing=OSError)
    if failure:
        _say_failure(failure)
    return 0


@dataclass
class _RunContext:
    """What is known about the readers so far, so that messages about failures respect it."""

    audience: Audience = NOBODY
    heading: str = ""
    """Names of the challenge and the phase."""


def prepare(source: Path, context: _RunContext | None = None, *, full: bool = False) -> Prepared:
    """Read and check all input, without comparing predictions and labels.

    `source`: the folder with ``ref`` and ``res``. `full`: whether to open everything, for a page that only the
    organisers of a closed phase read. Raises ScoringError if there is nothing to score, and why.
    """
    context = context or _RunContext()
    public = read_settings(source / "ref" / "task.yaml")
    settings = public.opened() if full else public
    context.audience, context.heading = Audience(settings.report.clips), settings.heading
    reference = read_reference(source / "ref" / "labels.csv", settings)
    context.audience = context.audience.knowing(reference.clip_ids)
    known = read_known(source / "ref", settings, reference)
    landmarks = read_landmarks(source / "ref", settings)
    ratings = read_jury(source / "ref" / settings.jury) if settings.jury else {}
    results = read_results(source / "res", settings, read_key(PROGRAM), len(reference.clip_ids))
    context.audience = context.audience.knowing(results.clips)
    frames = read_key_frames(source / "ref", settings.report.key_frames, reference.clip_ids)
    outcomes = join(results, reference, settings, known)
    warned = replace(outcomes, warnings=(*outcomes.warnings, *frames.problems))
    private = full and not public.report.truth
    beside = ReportExtras((), landmarks, frames, read_hashes(source / "ref"), private)
    return Prepared(settings, results, warned, beside, ratings.get(results.rated_as))


def page_again(source: Path, *, full: bool = False) -> str:
    """Make the page of a run again, at home; problems are raised with their messages.

    `source`: the folder with ``ref`` and ``res``. `full`: whether to open everything, for a page that only the
    organisers of a closed phase read. Raises ScoringError if there is nothing to score, and why.
    """
    prepared = prepare(source, full=full)
    evaluation, _ = _judged(prepared)
    findings = of_run(prepared.results, prepared.outcomes, prepared.audience)
    return _page_of(prepared, evaluation, findings, read_worker_notes(source / "res").facts)


def _page_of(prepared: Prepared, evaluation: Evaluation, findings: Sequence[Problem], worker: Facts) -> str:
    beside = replace(prepared.beside, worker=worker)
    scored = may_show(prepared.results, prepared.outcomes, evaluation, prepared.settings, findings, beside)
    return report_page(scored)


def judge(prepared: Prepared, target: Path, worker: Facts) -> None:
    """Compute, report and write, with a fallback at each step; only a full disk makes this fail.

    A first page without scores is written at the start; the platform shows it until the next one comes. Pages and
    scores are complete texts before the first byte is written, so that errors while writing cannot depend on labels.
    """
    settings, outcomes, results = prepared.settings, prepared.outcomes, prepared.results
    findings = _made(lambda: of_run(results, outcomes, prepared.audience))[0] or ()
    early, _ = _made(lambda: early_page(settings.heading, results, outcomes, findings, worker))
    if early is not None:
        write_atomically(target / _PAGE, early)
    judged, failure = _made(lambda: _judged(prepared))
    evaluation, scores = judged or (None, None)
    if scores is None:
        scores, _ = _made(lambda: worst_values(settings, outcomes, results.run.duration_s))
    page = None
    if evaluation:
        page, failure = _made(lambda: _page_of(prepared, evaluation, findings, worker))
    if page is None:
        ours = of_problems([failure] if failure else [], prepared.audience)
        findings = (*ours, *findings)
        headline, band = (_NO_REPORT, _SCORED) if evaluation else (_BROKE_DOWN, _WORST)
        page, _ = _made(lambda: failure_page(headline, findings, worker, settings.heading, band))
    write_atomically(target / _PAGE, page or last_page(_BROKE_DOWN))
    if scores is not None:
        _, unwritten = _made(lambda: write_scores(target, scores, columns(settings)), passing=OSError)
        if unwritten:
            findings = (unwritten, *findings)
    _, _ = _made(lambda: _say_scores(settings, outcomes, evaluation and may_tell(evaluation, settings), findings))


def _made(step: Callable[[], Made], passing: type[Exception] | tuple[()] = ()) -> tuple[Made | None, Problem | None]:
    """Run a step; return its result, or the problem without the exception's message."""
    try:
        return step(), None
    except passing:
        raise
    except Exception as error:  # noqa: BLE001 - see the module's first lines
        return None, internal_problem(error)


def _say_failure(problem: Problem) -> None:
    line, _ = _made(problem.line)
    say(f"ERROR: {line or _OURS}", sys.stderr)


def _judged(prepared: Prepared) -> tuple[Evaluation, Scores]:
    settings, duration_s = prepared.settings, prepared.results.run.duration_s
    evaluation = evaluate(prepared.outcomes, settings, duration_s, prepared.jury)
    scores = {column.key: column.rounded(estimate.value) for column, estimate in evaluation.columns}
    check_scores(scores, columns(settings))
    return evaluation, scores


def _give_up(error: ScoringError, target: Path, worker: Facts, context: _RunContext) -> int:
    findings = of_problems(error.problems, context.audience)
    say(f"ERROR: {error.headline}", sys.stderr)
    for line in lines(findings):
        say(line, sys.stderr)
    page, _ = _made(lambda: failure_page(error.headline, findings, worker, context.heading))
    write_atomically(target / _PAGE, page or last_page(error.headline))
    return error.exit_code


def _say_scores(
    settings: Settings,
    outcomes: Outcomes,
    evaluation: Evaluation | None,
    findings: Sequence[Problem],
) -> None:
    for line in lines(findings):
        say(line)
    say(f"{settings.task}: {len(outcomes.clip_ids)} clips, {outcomes.count('ok')} ok, {outcomes.failed} failed.")
    first = columns(settings)[0]
    interval = (
        next((one.interval for column, one in evaluation.columns if column == first), None) if evaluation else None
    )
    if interval:
        places = spread_decimals(first, open_=settings.report.truth)
        low, high = (round(end, places) + 0.0 for end in interval)
        level = f"{100 * settings.bootstrap.level:g} %"
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
