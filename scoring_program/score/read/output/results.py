"""Everything that ingestion handed over, checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from score import __version__
from score.errors import MOST_FOUND, NotGradableError, OrganiserError, Problem
from score.read.output.explanation_record import Explanation
from score.read.output.manifest import MANIFEST, WORKER_METADATA, ResultsFolder, open_results
from score.read.output.planted import foreign_files
from score.read.output.probe_record import MOST_CALLS, Probes
from score.read.output.records import ClipRecord, read_clips, read_explanations, read_predictions, read_probe_calls
from score.read.output.run_facts import RunFacts, read_run
from score.read.output.worker import check_step, read_worker_notes
from score.settings import Settings

_SPARE = 4
"""Times the lines that a phase can have: so many are read, and what is wrong with them is told one by one."""


@dataclass(frozen=True)
class Results:
    """One run's records."""

    folder: ResultsFolder
    """Where the pictures are."""
    run: RunFacts
    """The run as a whole."""
    clips: dict[str, ClipRecord]
    """How each clip went."""
    predictions: dict[str, tuple[float, ...]]
    """Predicted values in the order of the targets, of clips with a valid prediction."""
    explanations: dict[str, Explanation]
    """What was said, of clips with a valid prediction."""
    probes: Probes
    """Calls of the second pass, by clip id; empty where there was none."""
    warnings: tuple[Problem, ...]
    """What was tolerated and has to be said."""

    @property
    def rated_as(self) -> str:
        """Name what a jury rates, as a SHA-256: these explanations of this submission, so that a copy has no rating."""
        parts = self.run.submission_sha256, self.folder.hashes.get("explanations.jsonl", "")
        return hashlib.sha256("".join(f"{part}\n" for part in parts).encode()).hexdigest()


def read_results(root: Path, settings: Settings, key: bytes | None, clips_of_phase: int) -> Results:
    """Read ``input/res``; with a key, only what its seal vouches for.

    Parameters
    ----------
    root
        The folder ``input/res``.
    settings
        Of the reference data.
    key
        The bundle's key.
    clips_of_phase
        Number of clips in the reference data: no record has many more lines.

    Raises
    ------
    NotGradableError
        If the submission is invalid, or its results are missing, damaged, or not to be believed.
    OrganiserError
        If ingestion stopped over the organiser's data, or ran on other data than the reference belongs to.
    """
    folder = open_results(root, key)
    problems: list[Problem] = []
    run = read_run(folder.read("run.json"), settings, problems)
    if run is None:
        raise NotGradableError("The results are damaged.", problems)
    if run.status == "invalid":
        raise NotGradableError("The submission cannot be judged.", run.problems or [_unexplained("participant")])
    if run.status == "organiser_error":
        raise OrganiserError(
            "The phase's data, settings or image have a mistake.", run.problems or [_unexplained("organiser")]
        )
    _check_owner(folder, run)
    check_step(read_worker_notes(root), sealed=folder.sealed)
    _check_versions(run, settings)
    clips = read_clips(_read(folder, "clips.jsonl", clips_of_phase), settings, problems)
    predictions = read_predictions(_read(folder, "predictions.csv", clips_of_phase), settings, problems)
    images = frozenset(name for name in folder.sizes if name.startswith("images/"))
    said = _read(folder, "explanations.jsonl", clips_of_phase)
    explanations = read_explanations(said, settings, images, problems)
    listed = "probes.jsonl" in folder.sizes  # without a second pass nothing is shown, and nothing is wrong
    calls = _read(folder, "probes.jsonl", 2 * MOST_CALLS * clips_of_phase) if listed else b""  # each perhaps again
    probes = read_probe_calls(calls, settings, explanations, problems)
    # Ingestion records every clip, tried or not. Nothing at all is a broken run, not a bad model.
    if not clips:
        problems.append(_broken("clips.jsonl", "no record of any clip", "one record a clip"))
    elif not predictions and any(clip.status == "ok" for clip in clips.values()):
        problems.append(_broken("predictions.csv", "no row", "a row for each clip that is ok"))
    if any(problem.severity == "error" for problem in problems):
        raise NotGradableError("The results are damaged.", problems)
    warnings = (*problems, *_other_release(run), *folder.planted.problems())
    return Results(folder, run, clips, predictions, explanations, probes, warnings)


def _read(folder: ResultsFolder, name: str, lines: int) -> bytes:
    """Read a record, unless it has so many more lines than it can have that reading it would only take long."""
    data, most = folder.read(name), MOST_FOUND + _SPARE * lines
    if (found := data.count(b"\n")) > most:
        problem = _broken(name, f"{found} lines", f"at most {most}: no line for what is no clip of the phase")
        raise NotGradableError("The results are damaged.", [problem])
    return data


def _check_owner(folder: ResultsFolder, run: RunFacts) -> None:
    own = {MANIFEST, WORKER_METADATA, *folder.sizes}
    foreign = foreign_files(folder.root, own, run.submission_files) if folder.sealed else ()
    if foreign:
        found, fix = f"files of another submission: {', '.join(foreign)}", "submit your own model alone"
        expected = "the submission whose record this is"
        problem = Problem("record_of_another", "run", "the results folder", found, expected, fix, fault="participant")
        raise NotGradableError("The results cannot be believed.", [problem])


def _unexplained(fault: str) -> Problem:
    words = ("run", "run.json", "no reason", "the reason why ingestion stopped", "read ingestion's log")
    if fault == "participant":
        return Problem("run_invalid", *words, fault="participant")
    return Problem("run_stopped", *words)


def _broken(file: str, found: str, expected: str) -> Problem:
    fix = "submit again; if it happens again, tell the organisers"
    return Problem("record_broken", "run", file, found, expected, fix)


def _other_release(run: RunFacts) -> tuple[Problem, ...]:
    if run.program_version in ("", __version__):
        return ()
    found = f"ingestion {run.program_version[:20]}, scoring {__version__}"
    fix = "upload the programs of one release"
    return (Problem("release_differs", "run", "run.json", found, "one release", fix, severity="warning"),)


def _check_versions(run: RunFacts, settings: Settings) -> None:
    problems = [
        Problem(
            code="version_mismatch",
            stage="settings",
            where=f"task.yaml, {key}",
            found=f"{ran!r} in the input data, {scored!r} in the reference data",
            expected="the same text in both",
            fix="give the phase's task the input data and the reference data that belong together",
        )
        for key, ran, scored in (
            ("data_version", run.data_version, settings.data_version),
            ("task", run.task, settings.task),
        )
        if ran != scored
    ]
    if problems:
        raise OrganiserError("The input data and the reference data do not belong together.", problems)
