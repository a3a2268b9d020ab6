"""Facts of a run: what ingestion recorded, and what the platform's worker left beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from score.errors import NotGradableError, Problem, wrong
from score.read.manifest import WORKER_METADATA, check_format, is_regular
from score.read.records import parse_problems
from score.read.tables import (
    StrictJsonError,
    finite_number,
    is_sha256,
    mapping,
    parse_object,
    short_text,
    whole_number,
)
from score.settings import Settings

Facts = tuple[tuple[str, str], ...]
"""(label, value) pairs for the report."""
_LARGEST = 64 * 2**10
_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,20})?", re.ASCII)
_GOOD = frozenset({0, 75})
"""Exit codes of ingestion after a record that can be scored; 75 is the watchdog's. See docs/output_format.md."""
_SHOWN = {
    "ingestionElapsedTime": "Ingestion, by the worker's clock (s)",
    "ingestionExitCode": "Ingestion's exit code",
}
_SUBMISSION = {
    "submitted-by": ("Submitted by", re.compile(r"[\w.@+-]{1,150}")),
    "submitted-at": ("Submitted at (UTC)", re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?", re.ASCII)),
    "competition-submission": ("Number of the submission", re.compile(r"\d{1,9}", re.ASCII)),
    "competition-phase": ("Number of the phase", re.compile(r"\d{1,9}", re.ASCII)),
    "automatic-submission": ("Moved from the phase before", re.compile(r"True|False")),
}
"""Metadata of CodaLab's first version: key -> label in the report, and the accepted form of the value."""


@dataclass(frozen=True)
class WorkerNotes:
    """The worker's notes; empty if it left none."""

    values: Mapping[str, float | None] = field(default_factory=dict)
    """Key of the file -> number; None if the step it describes did not run."""

    @property
    def facts(self) -> Facts:
        """The notes that the report shows."""
        numbers = ((label, self.values.get(key)) for key, label in _SHOWN.items())
        return tuple((label, f"{round(value, 1):g}") for label, value in numbers if value is not None)

    @property
    def codabench(self) -> bool:
        """Whether Codabench wrote them. CodaLab's worker, version 1, records a program's exit code even for results."""
        return "ingestionElapsedTime" in self.values


def read_worker_notes(results: Path) -> WorkerNotes:
    """Read the worker's notes in ``input/res``; empty if the file is missing or unreadable."""
    values: dict[str, float | None] = {}
    for key, text in _notes(results):
        if text == "null":
            values[key] = None
        elif _NUMBER.fullmatch(text):
            values[key] = finite_number(float(text))
    return WorkerNotes(values)


def read_submission_metadata(source: Path) -> Facts:
    """Read who submitted what and when; empty if the platform does not say, like Codabench.

    CodaLab's first version puts this into the input folder. The other lines, addresses of files on the server and keys
    to open them, are never shown.

    `source`: the input folder, which also holds ``ref`` and ``res``.
    """
    notes = dict(_notes(source))
    return tuple(
        (label, notes[key]) for key, (label, form) in _SUBMISSION.items() if form.fullmatch(notes.get(key, ""))
    )


def _notes(folder: Path) -> list[tuple[str, str]]:
    """Read the lines ``key: value`` of a file ``metadata``; none when it is absent or too large.

    A YAML parser is not needed for a few numbers, and could be attacked with YAML bombs.
    """
    path = folder / WORKER_METADATA
    if not is_regular(folder, WORKER_METADATA) or path.stat().st_size > _LARGEST:
        return []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
    return [(key, value.strip()) for key, colon, value in (line.partition(":") for line in lines) if colon]


def check_step(notes: WorkerNotes, *, sealed: bool) -> None:
    """Refuse a good record that does not fit the worker's notes.

    `sealed`: whether the record is sealed by this bundle's ingestion, which must then have run. Raises NotGradableError
    if a command of the submission ran beside ingestion, or ingestion's exit code does not fit the record.
    """
    if not notes.codabench:
        return
    code = notes.values.get("ingestionExitCode")
    if notes.values.get("exitCode") is not None:
        found = "a command of the submission, which could change the results"
        problem = wrong("own_command_ran", "the prediction step", found, "ingestion alone")
    elif code in _GOOD or (code is None and not sealed):
        return
    else:
        found = "no exit code of ingestion" if code is None else f"exit code {code:g} of ingestion"
        problem = wrong("ingestion_failed", "the prediction step", found, "exit code 0, as after a run")
    raise NotGradableError("The results cannot be trusted.", [problem])


_LARGEST_RUN = 4 * 2**20
_LONGEST_RUN_S = 1e7
_TEXTS = ("task", "data_version", "program_version", "image", "isolation")
_HASHES = ("submission_sha256", "settings_sha256", "data_sha256")
_MOST_CREDITS = 20
ISOLATION = {
    "full": "limits, Landlock and seccomp",
    "seccomp": "limits and seccomp, no Landlock",
    "basic": "limits, no kernel filter",
    "portable": "a separate process only",
}
"""Meaning of each isolation level, in words."""
RUN_STATUSES = ("complete", "partial", "invalid", "organiser_error")


@dataclass(frozen=True)
class Determinism:
    """Result of asking clips, or altered copies, twice."""

    clips: int
    """Clips that were asked a second time, >= 1."""
    identical: int
    largest_difference: float | None
    """In any target; None without one. A model can choose this number."""


@dataclass(frozen=True)
class SecondPass:
    """Progress of the second pass."""

    planned: int
    """Planned calls, >= 0."""
    asked: int
    """Calls that were reached in time, at most `planned`."""
    answered: int
    """Calls with a valid answer, at most `asked`."""
    duration_s: float | None
    """Wall time; None if not recorded."""

    def line(self) -> str:
        """Describe it in a few words."""
        took = "" if self.duration_s is None else f", {self.duration_s:.1f} s"
        return f"{self.answered} of {self.planned} calls answered{took}"


@dataclass(frozen=True)
class Training:
    """What the submission says about its own training; nobody has checked it."""

    people: int
    """Groups of clips, >= 2, of which each was left out once."""
    grouped_by: str
    """What a group is, such as ``source_id``."""
    error: Mapping[str, float]
    """Mean absolute error of each target for groups that were left out, in the target's unit."""


@dataclass(frozen=True)
class RunFacts:
    """The run, as ingestion recorded it."""

    status: str
    """``complete``, ``partial``, ``invalid`` or ``organiser_error``."""
    task: str
    """Name of the phase in the input data."""
    data_version: str
    problems: tuple[Problem, ...]
    duration_s: float
    """Wall time of ingestion, >= 0."""
    time_limit_s: float | None
    program_version: str
    submission_sha256: str
    """Hash of the submission's files; like the following fields, empty if not recorded."""
    submission_files: frozenset[str]
    """One entry for each file: the first digits of the content's SHA-256, a space and the name without folders."""
    settings_sha256: str
    data_sha256: str
    seed: int | None
    image: str
    """Name of the image, if the image states it."""
    isolation: str
    """Isolation level; a key of `ISOLATION` if known."""
    determinism: Determinism | None
    """None if no clip was asked twice."""
    receipt_of_copies: Determinism | None
    """None if no altered copy was asked twice."""
    second_pass: SecondPass | None
    """None without a second pass."""
    untested: Mapping[str, frozenset[str]]
    """Ids of the clips without ``exchanges``, and without cue ``edits``; none if not recorded."""
    results: bool
    """Whether results were submitted instead of code, so that no model was run."""
    training: Training | None
    """None if the submission does not say."""
    details: Facts
    """(label, value) of the facts that the report lists; only "Builds on" contains the participant's own words."""

    @property
    def not_comparable(self) -> bool:
        """Whether a busy machine cost the run time. A lack of memory is no busy machine: ingestion sees to that."""
        return any(problem.code == "machine_busy" for problem in self.problems)


def read_run(data: bytes, settings: Settings, problems: list[Problem]) -> RunFacts | None:
    """Read ``run.json``; None, and a problem, when it cannot be used.

    Raises OrganiserError if its version is not the one that this program reads.
    """

    def broken(found: str, expected: str) -> None:
        problems.append(wrong("run_record_broken", "run.json", found, expected))

    try:
        run = parse_object(data, _LARGEST_RUN)
    except StrictJsonError as error:
        broken(str(error), "JSON as in docs/output_format.md")
        return None
    version = run.get("format_version")
    if type(version) is int:
        check_format("run.json", version)
    else:
        broken("no format_version", "a whole number")
    if run.get("status") not in RUN_STATUSES:
        broken("an unknown status", "one of " + ", ".join(RUN_STATUSES))
    duration = _seconds(run.get("duration_s"))
    if duration is None:
        broken("no duration_s", "seconds, >= 0")
    if duration is None or problems:
        return None
    texts: dict[str, Any] = {key: short_text(run.get(key)) for key in _TEXTS}
    hashes: dict[str, Any] = {key: run[key] if is_sha256(run.get(key)) else "" for key in _HASHES}
    probes = mapping(run.get("probes"))
    second_pass = _second_pass(probes)
    return RunFacts(
        **texts,
        **hashes,
        status=run["status"],
        problems=parse_problems(run.get("problems"), settings),
        duration_s=duration,
        time_limit_s=_seconds(run.get("time_limit_s")),
        submission_files=_ids(run.get("submission_files")),
        seed=whole_number(run.get("seed"), 0, 2**64 - 1),
        determinism=_determinism(mapping(run.get("determinism"))),
        receipt_of_copies=_determinism(mapping(probes.get("again"))),
        second_pass=second_pass,
        untested={key: _ids(mapping(run.get("untested")).get(key)) for key in ("exchanges", "edits")},
        results=run.get("results") is True,
        training=_training(mapping(run.get("training")), settings),
        details=_details(run, second_pass),
    )


def _ids(value: object) -> frozenset[str]:
    return frozenset(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else frozenset()


def _seconds(value: object) -> float | None:
    return finite_number(value, 0, _LONGEST_RUN_S)


def _details(run: dict[str, Any], second_pass: SecondPass | None) -> Facts:
    packages = list(mapping(run.get("packages")).items())[:20]
    load, landlock = _seconds(run.get("load_s")), whole_number(run.get("landlock"), 0, 99)
    facts = {
        "Loading the model": "" if load is None else f"{load:.1f} s",
        "Builds on": "; ".join(_credits(run.get("credits"))),
        "Second pass": second_pass.line() if second_pass else "",
        "Processor time": _processor(mapping(run.get("processor"))),
        "Models side by side": str(run["workers"]) if whole_number(run.get("workers"), 2, 256) else "",
        "Restarts of the model": str(run["restarts"]) if type(run.get("restarts")) is int else "",
        "Python": short_text(run.get("python")),
        "Packages": ", ".join(f"{short_text(name)} {short_text(version)}" for name, version in packages),
        "Machine": short_text(run.get("machine")),
        # The Landlock version that protected paths.
        "Landlock": "" if landlock is None else f"version {landlock}" if landlock else "none",
    }
    return tuple((label, value) for label, value in facts.items() if value)


def _processor(record: dict[str, Any]) -> str:
    """Describe processor time: what the model used, how long the run waited, and what lack of memory ended."""
    model, waited = _seconds(record.get("model_s")), _seconds(record.get("waited_s"))
    if model is None:
        return ""
    kept = "" if waited is None else f", {waited:.1f} s waiting for a processor"
    kills = whole_number(record.get("memory_kills"), 1, 10**6)
    if kills:
        kept += f"; {kills} killed for lack of memory"
    return f"{model:.1f} s in the model{kept}" + (": the machine was busy" if record.get("busy") is True else "")


def _credits(entries: object) -> list[str]:
    """Describe each credit: what was used, and from where."""
    lines = []
    for entry in map(mapping, entries if isinstance(entries, list) else ()):
        used, submission = short_text(entry.get("used")), short_text(entry.get("submission"), 16)
        if used:
            source = f"submission {submission}" if submission else short_text(entry.get("repository"))
            lines.append(f"{used} ({source})")
    return lines[:_MOST_CREDITS]


def _second_pass(probes: dict[str, Any]) -> SecondPass | None:
    planned = whole_number(probes.get("planned"), 0, 10**9)
    answered = whole_number(probes.get("answered"), 0, planned or 0)
    if planned is None or answered is None:
        return None
    asked = whole_number(probes.get("asked"), answered, planned)
    return SecondPass(planned, planned if asked is None else asked, answered, _seconds(probes.get("duration_s")))


def _training(record: dict[str, Any], settings: Settings) -> Training | None:
    people, stated = whole_number(record.get("people"), 2, 10**6), mapping(record.get("error"))
    errors = {name: error for name in settings.names if (error := finite_number(stated.get(name), 0)) is not None}
    complete = people is not None and len(errors) == len(settings.names)
    return Training(people or 0, short_text(record.get("grouped_by"), 40), errors) if complete else None


def _determinism(record: dict[str, Any]) -> Determinism | None:
    clips = whole_number(record.get("clips"), 1, 10**6)
    same = whole_number(record.get("identical"), 0, clips or 0)
    if clips is None or same is None:
        return None
    return Determinism(clips, same, finite_number(record.get("largest_difference")))
