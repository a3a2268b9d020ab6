"""What can go wrong, as data: the closed list of codes with their words, problems, and the two errors that end a run.

No text in here may hold a label value: logs and reports are open to participants, whatever the phase. So one rendering
serves all readers; the report only sorts by whose fault a problem is. Problems that ingestion recorded are passed on
under ingestion's own codes. docs/error_codes.md holds the same list for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar

from score.visible import one_line

MOST_FOUND = 1000
"""Mistakes after which a reader stops: a file of another kind has one in every line."""


@dataclass(frozen=True)
class Code:
    """What one code says wherever its problem lies."""

    stage: str
    """Of its problems."""
    fix: str
    """What to do, in one line."""
    fault: str = "organiser"
    """Who can solve it: ``participant`` or ``organiser``."""
    warning: bool = False
    """Whether the run is scored all the same."""


_YOURS = "participant"
_LABELS = "correct labels.csv as docs/data_format.md shows"
_AGAIN = "submit again; if it happens again, tell the organisers"

CODES = {
    "setting_invalid": Code("settings", "correct it as docs/data_format.md shows"),
    "labels_unreadable": Code("data", _LABELS),
    "labels_encoding": Code("data", _LABELS),
    "labels_csv": Code("data", _LABELS),
    "labels_column": Code("data", _LABELS),
    "labels_row": Code("data", _LABELS),
    "labels_empty": Code("data", _LABELS),
    "labels_clip_id": Code("data", _LABELS),
    "labels_source": Code("data", _LABELS),
    "label_duplicate": Code("data", _LABELS),
    "label_missing": Code("data", _LABELS),
    "label_not_a_number": Code("data", _LABELS),
    "label_out_of_range": Code("data", _LABELS),
    "causes_broken": Code("data", "correct causes.json as docs/data_format.md shows"),
    "causes_missing": Code(
        "data", "write the causes of every clip of the reference, or take the key causes out of task.yaml"
    ),
    "observations_broken": Code("data", "correct observations.json as docs/data_format.md shows"),
    "groups_broken": Code("data", "correct groups.csv as docs/data_format.md shows"),
    "landmarks_broken": Code("data", "compute them again: bundle data baselines"),
    "key_frames_broken": Code("data", "make them again with: bundle data key-frames", warning=True),
    "jury_broken": Code("data", "run bundle jury score --write again"),
    "version_mismatch": Code(
        "settings", "give the phase's task the input data and the reference data that belong together"
    ),
    "seal_key_broken": Code("settings", "build the bundle again with `bundle build` and upload both programs"),
    "format_differs": Code("run", "upload the ingestion and the scoring program of one release"),
    "release_differs": Code("run", "upload the programs of one release", warning=True),
    "results_missing": Code("run", "submit again, or ask for a re-run; if it happens again, tell the organisers"),
    "own_command_ran": Code(
        "run", "leave the files metadata and metadata.yaml out of the zip, and submit again", _YOURS
    ),
    "record_of_another": Code("run", "submit your own model alone", _YOURS),
    "ingestion_failed": Code("run", _AGAIN),
    "results_unsealed": Code("run", "submit again; organisers: both programs must come from one build of the bundle"),
    "results_damaged": Code("run", _AGAIN),
    "run_record_broken": Code("run", "use the ingestion and the scoring program of one release, and run again"),
    "record_broken": Code("run", _AGAIN),
    "run_invalid": Code("run", "read ingestion's log", _YOURS),
    "run_stopped": Code("run", "read ingestion's log"),
    "clips_undecodable": Code("data", "replace the files and run every submission again"),
    "clips_missing": Code("data", "check that the input data hold every clip of the reference data", warning=True),
    "records_stray": Code("data", "run again", warning=True),
    "files_ignored": Code(
        "run",
        "nothing has to be done: they were ignored. A submission can neither add nor replace results",
        _YOURS,
        warning=True,
    ),
    "protected_attribute": Code(
        "explain",
        "describe what can be seen and heard; docs/language.md tells what is looked for",
        _YOURS,
        warning=True,
    ),
    "internal_error": Code("run", "run the scoring program on the same input by hand to see the whole error"),
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or several that read alike; the same fields as in docs/output_format.md."""

    code: str
    """Short, stable name in snake case, such as ``label_missing``."""
    stage: str
    """``settings``, ``data``, ``load``, ``predict``, ``explain`` or ``run``."""
    where: str
    """The clip, file, line or key."""
    found: str
    """What is there; never a label value."""
    expected: str
    """What should be there."""
    fix: str
    """What to do about it."""
    severity: str = "error"
    """``error`` or ``warning``."""
    fault: str = "organiser"
    """``participant`` or ``organiser``."""
    count: int = 1
    """How often, >= 1."""

    @property
    def yours(self) -> bool:
        """Whether the participant can solve it."""
        return self.fault == "participant"

    def line(self) -> str:
        """Say everything in one line, for the log."""
        found = f"found {self.found}" if self.found else ""
        expected = f"expected {self.expected}" if self.expected else ""
        parts = (self.code, self.where, found, expected, self.fix)
        return one_line(" · ".join(part for part in parts if part), 600)


def wrong(code: str, where: str, found: str, expected: str, *, warning: bool = False) -> Problem:
    """Make a problem; the code brings the rest of its words.

    Parameters
    ----------
    code
        A key of `CODES`.
    where, found, expected
        Of this problem.
    warning
        Whether the run is scored although the code is no warning.
    """
    known = CODES[code]
    severity = "warning" if warning or known.warning else "error"
    return Problem(code, known.stage, where, found, expected, known.fix, severity, known.fault)


class ScoringError(Exception):
    """The run cannot be scored, for the reasons in ``problems``; raised only before a label is compared with anything.

    Raising it later would make "Failed" (which costs no attempt) depend on labels, and so reveal them.
    """

    exit_code: ClassVar[int]

    def __init__(self, headline: str, problems: Sequence[Problem]) -> None:
        super().__init__(headline)
        self.headline = headline
        self.problems = tuple(problems)


class NotGradableError(ScoringError):
    """The results cannot be judged: the submission is invalid, or its results are missing or damaged."""

    exit_code = 1


class OrganiserError(ScoringError):
    """Settings, reference data or the program itself are at fault; the participant is not."""

    exit_code = 2


def internal_problem(error: Exception) -> Problem:
    """Describe an unexpected error by its type and place alone: its message may quote a label."""
    frames = extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "the scoring program"
    # By hand: this is what is left when anything else broke, `wrong` included.
    code, known = "internal_error", CODES["internal_error"]
    found, expected = type(error).__name__, "no unexpected error"
    return Problem(code, known.stage, place, found, expected, known.fix, "error", known.fault)
