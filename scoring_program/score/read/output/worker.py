"""What the platform's worker noted about the prediction step, and why its output may not be believed.

Whoever has a bundle's key can seal a record. The worker's notes need no secret: it writes them when it takes the step
for ended. A container that outlives that could still change them; docs/security.md says what to do against it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from score.errors import NotGradableError, Problem
from score.read.output.manifest import WORKER_METADATA, is_regular
from score.read.strict_json import finite_number

_LARGEST = 64 * 2**10
# Four numbers do not need YAML, which has its bombs.
_LINE = re.compile(r"^(\w{1,40}): *(-?\d{1,12}(?:\.\d{1,20})?|null)[ \r]*$", re.MULTILINE | re.ASCII)
_GOOD = frozenset({0, 75})
"""Of ingestion, after a record that can be scored; 75 where its watchdog ended it. See docs/output_format.md."""
_SHOWN = {
    "ingestionElapsedTime": "Ingestion, by the worker's clock (s)",
    "ingestionExitCode": "Ingestion's exit code",
}


@dataclass(frozen=True)
class WorkerNotes:
    """The worker's notes; empty where it left none."""

    values: Mapping[str, float | None] = field(default_factory=dict)
    """Key of the file -> number; None where nothing ran that it would speak of."""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """(label, value) pairs for the report."""
        numbers = ((label, self.values.get(key)) for key, label in _SHOWN.items())
        return tuple((label, f"{round(value, 1):g}") for label, value in numbers if value is not None)

    @property
    def codabench(self) -> bool:
        """Whether Codabench wrote them: CodaLab's worker, version 1, gives results the exit code of a program."""
        return "ingestionElapsedTime" in self.values


def read_worker_notes(root: Path) -> WorkerNotes:
    """Read the worker's notes in ``input/res``; nothing when the file is absent or rubbish."""
    path = root / WORKER_METADATA
    if not is_regular(root, WORKER_METADATA) or path.stat().st_size > _LARGEST:
        return WorkerNotes()
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return WorkerNotes()
    found = dict(_LINE.findall(text))
    return WorkerNotes({key: None if value == "null" else finite_number(float(value)) for key, value in found.items()})


def check_step(notes: WorkerNotes, *, sealed: bool) -> None:
    """Refuse a good record that does not fit the worker's notes.

    Parameters
    ----------
    notes
        The worker's.
    sealed
        Whether ingestion of this bundle is said to have written the record: then it must have run.

    Raises
    ------
    NotGradableError
        If a command of the submission ran beside ingestion, or ingestion did not end as it does after such a record.
    """
    if not notes.codabench:
        return
    if notes.values.get("exitCode") is not None:
        fix = "leave the files metadata and metadata.yaml out of the zip, and submit again"
        found = "a command of the submission's own, which could change the results"
        expected = "ingestion alone"
        problem = Problem("own_command_ran", "run", "the prediction step", found, expected, fix, fault="participant")
        raise NotGradableError("The results cannot be believed.", [problem])
    code = notes.values.get("ingestionExitCode")
    if code in _GOOD or (code is None and not sealed):
        return
    found = "no exit code of ingestion" if code is None else f"exit code {code:g} of ingestion"
    fix = "submit again; if it happens again, tell the organisers"
    problem = Problem("ingestion_failed", "run", "the prediction step", found, "exit code 0, as after a run", fix)
    raise NotGradableError("The results cannot be believed.", [problem])
