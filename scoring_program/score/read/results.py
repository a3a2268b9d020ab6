"""All records of ingestion, checked."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from score import __version__
from score.errors import MOST_FOUND, NotGradableError, OrganiserError, Problem, wrong
from score.read.answers import MOST_CALLS, Explanation
from score.read.manifest import MANIFEST, WORKER_METADATA, ResultsFolder, find_unexpected, foreign_files, open_results
from score.read.records import (
    ClipRecord,
    Probes,
    Repeat,
    read_clips,
    read_explanations,
    read_predictions,
    read_probe_calls,
    read_repeats,
)
from score.read.run import RunFacts, check_step, read_run, read_worker_notes
from score.settings import Settings

_SPARE = 4
"""Multiple of a phase's possible lines up to which a record is read line by line."""
_DAMAGED = "The results are damaged."


@dataclass(frozen=True)
class Results:
    """One run's records."""

    folder: ResultsFolder
    """Where the pictures are."""
    run: RunFacts
    clips: dict[str, ClipRecord]
    """How each clip went, by clip id."""
    predictions: dict[str, tuple[float, ...]]
    """Predictions by clip id, in the order of the targets, if valid."""
    explanations: dict[str, Explanation]
    """Explanations of clips with a valid prediction, by clip id."""
    probes: Probes
    """Calls of the second pass, by clip id; empty without one."""
    repeats: dict[str, Repeat]
    """Answers of a fresh process to plain clips, by clip id."""
    warnings: tuple[Problem, ...]
    """Problems that were tolerated but are reported."""

    @property
    def rated_as(self) -> str:
        """SHA-256 that identifies these explanations of this submission for a jury, so that a copy has no rating."""
        parts = self.run.submission_sha256, self.folder.hashes.get("explanations.jsonl", "")
        return hashlib.sha256("".join(f"{part}\n" for part in parts).encode()).hexdigest()


def read_results(root: Path, settings: Settings, key: bytes | None, clips_of_phase: int) -> Results:
    """Read ``input/res``; with a key, only sealed results.

    `clips_of_phase`: number of clips in the reference data, which limits the lines of a record.
    Raises NotGradableError if the submission is invalid, or its results are missing, damaged or untrusted.
    Raises OrganiserError if ingestion stopped because of the organiser's data, or ran on data that do not fit the
    reference.
    """
    folder = open_results(root, key)
    problems: list[Problem] = []
    run = read_run(folder.read("run.json"), settings, problems)
    if run is None:
        raise NotGradableError(_DAMAGED, problems)
    _check_status(run)
    own = {MANIFEST, WORKER_METADATA, *folder.hashes}
    _check_owner(folder, own, run)
    check_step(read_worker_notes(root), sealed=folder.sealed)
    _check_versions(run, settings)

    def read(name: str, calls: int = 1) -> bytes:
        """Read a record, unless it has far more lines than possible, so that reading it would only waste time."""
        data, most = folder.read(name), MOST_FOUND + _SPARE * calls * clips_of_phase
        if (lines := data.count(b"\n")) > most:
            expected = f"at most {most}, one per clip of the phase"
            raise NotGradableError(_DAMAGED, [wrong("record_broken", name, f"{lines} lines", expected)])
        return data

    clips = read_clips(read("clips.jsonl"), settings, problems)
    predictions = read_predictions(read("predictions.csv"), settings, problems)
    images = frozenset(name for name in folder.hashes if name.startswith("images/"))
    explanations = read_explanations(read("explanations.jsonl"), settings, images, problems)
    # Without a model there are no such files. Each call may be repeated once.
    repeated = read("repeats.jsonl") if "repeats.jsonl" in folder.hashes else b""
    calls = read("probes.jsonl", 2 * MOST_CALLS) if "probes.jsonl" in folder.hashes else b""
    probes = read_probe_calls(calls, settings, explanations, problems)
    repeats = read_repeats(repeated, settings, problems)
    # Ingestion records every clip, even unreached ones. An empty record is a broken run, not a bad model.
    if not clips:
        problems.append(wrong("record_broken", "clips.jsonl", "no record of any clip", "one record per clip"))
    elif not predictions and any(clip.status == "ok" for clip in clips.values()):
        problems.append(wrong("record_broken", "predictions.csv", "no row", "a row for every clip with status ok"))
    if any(problem.severity == "error" for problem in problems):
        raise NotGradableError(_DAMAGED, problems)
    if run.program_version not in ("", __version__):
        found = f"ingestion {run.program_version[:20]}, scoring {__version__}"
        problems.append(wrong("release_differs", "run.json", found, "one release"))
    folder = replace(folder, unexpected=find_unexpected(root, own, run.submission_files))
    warnings = (*problems, *folder.unexpected.problems())
    return Results(folder, run, clips, predictions, explanations, probes, repeats, warnings)


def _check_status(run: RunFacts) -> None:
    """Refuse a run that ingestion aborted, with ingestion's reasons."""
    unexplained = "run.json", "no reason", "the reason why ingestion stopped"
    if run.status == "invalid":
        raise NotGradableError("The submission cannot be judged.", run.problems or [wrong("run_invalid", *unexplained)])
    if run.status == "organiser_error":
        headline = "The phase's data, settings or image have a mistake."
        raise OrganiserError(headline, run.problems or [wrong("run_stopped", *unexplained)])


def _check_owner(folder: ResultsFolder, own: set[str], run: RunFacts) -> None:
    foreign = foreign_files(folder.root, own, run.submission_files) if folder.sealed else ()
    if foreign:
        found, expected = f"files of another submission: {', '.join(foreign)}", "only files of the recorded submission"
        problem = wrong("record_of_another", "the results folder", found, expected)
        raise NotGradableError("The results cannot be trusted.", [problem])


def _check_versions(run: RunFacts, settings: Settings) -> None:
    versions = (
        ("data_version", run.data_version, settings.data_version),
        ("task", run.task, settings.task),
    )
    problems = [
        wrong(
            "version_mismatch",
            f"task.yaml, {key}",
            f"{ran!r} in the input data, {scored!r} in the reference data",
            "the same text in both",
        )
        for key, ran, scored in versions
        if ran != scored
    ]
    if problems:
        raise OrganiserError("The input data and the reference data do not belong together.", problems)
