"""The platform's records about a submission and its run, and checks whether the run's output can be trusted.

Anybody with a bundle's key can seal a record. The worker's notes depend on no secret: the worker writes them when it
considers the step finished. A container that outlives the step could still change them; docs/security.md has a remedy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from score.errors import NotGradableError, wrong
from score.read.output.manifest import WORKER_METADATA, is_regular
from score.read.strict_json import finite_number

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
