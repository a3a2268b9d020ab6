"""The programs of a phase, or of this checkout, for tools that compute with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle_tools.codabench.archive import CHECKOUT, extract
from bundle_tools.codabench.competition import Phase
from bundle_tools.codabench.trust import ensure_trusted, forget_compiled, is_own
from bundle_tools.errors import BundleError

if TYPE_CHECKING:  # it imports the client of servers
    from bundle_tools.challenge.compare.runs import RunFolder

PACKAGES = {"ingestion_program": "ingest", "scoring_program": "score"}
"""Folder of a program -> its package."""


def use_scoring_program(phase: Phase, scratch: Path) -> Path:
    """Make `score` importable, and return the reference data that belong to it.

    Returns the folder of the reference data. Raises BundleError when the phase has no scoring program of this project,
    or no reference data, or when the user does not trust the program.
    """
    program, reference = unpacked(phase.task.scoring_program, scratch), unpacked(phase.task.reference_data, scratch)
    if program is None or reference is None or not (program / "score" / "columns.py").is_file():
        raise BundleError(f"phase {phase.slug}: expected this project's scoring program and reference data.")
    if not phase.task.trusted:
        ensure_trusted([("scoring_program", program)])
    if is_own("scoring_program", program):
        program = CHECKOUT / "scoring_program"
    forget_compiled(program)
    if str(program) not in sys.path:
        # The organiser's own program; no file of a submission is ever imported.
        sys.path.insert(0, str(program))
    return reference


def use_own_program(kind: str) -> None:
    """Make a program of this checkout importable, unless another one is already.

    `kind`: "ingestion_program" for `ingest`, "scoring_program" for `score`.
    """
    program = str(CHECKOUT / kind)
    if PACKAGES[kind] not in sys.modules and program not in sys.path:
        sys.path.append(program)


def scoring_input(source: Path, reference: Path, results: Path) -> Path:
    """Arrange data as the scoring program expects them, without copying.

    Returns the folder, for ``prepare`` and ``page_again`` of `score.pipeline`.
    """
    source.mkdir()
    (source / "ref").symlink_to(reference.resolve())
    (source / "res").symlink_to(results.resolve())
    return source


def unpacked(path: Path | None, scratch: Path) -> Path | None:
    """Return the folder that a task names; a zip is unpacked into one, once."""
    if path is None or path.is_dir():
        return path
    folder = scratch / path.stem
    if not folder.exists():
        extract(path, folder)
    return folder


def report_again(run: RunFolder, phase: Phase, scratch: Path, *, full: bool) -> str:
    """Make the report of a run again with the bundle's own scoring program.

    `full`: whether single clips and labels are shown even if the phase closes them. Raises BundleError when the phase
    lacks something, or the run cannot be scored, with the reasons.
    """
    reference = use_scoring_program(phase, scratch)
    from score.errors import ScoringError  # noqa: PLC0415 - that program's
    from score.pipeline import page_again  # noqa: PLC0415

    try:
        return page_again(scoring_input(scratch / "input", reference, run.folder), full=full)
    except ScoringError as error:
        reasons = "; ".join(problem.line() for problem in error.problems)
        raise BundleError(f"{run.name}: {error.headline} {reasons}") from error
