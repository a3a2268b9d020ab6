"""The closed list of problem codes, problems, and the two errors that end a run.

No text here may hold a label value: participants can read logs and reports in every phase. So all readers get the same
wording; the report only sorts problems by whose fault they are. Problems recorded by ingestion keep ingestion's codes.
docs/error_codes.md lists the codes for people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar

from score.visible import one_line

MOST_FOUND = 1000
"""Mistakes after which a reader stops: a file of the wrong kind has one in each line."""


@dataclass(frozen=True)
class Code:
    """What all problems with this code share."""

    stage: str
    fix: str
    fault: str = "organiser"
    """Who can fix it: ``participant`` or ``organiser``."""
    warning: bool = False
    """Whether the run is still scored."""


_YOURS = "participant"
_AGAIN = "submit again; if it happens again, tell the organisers"

CODES = {
    "setting_invalid": Code("settings", "correct it as docs/data_format.md shows"),
    **dict.fromkeys(
        (
            *("labels_unreadable", "labels_encoding", "labels_csv", "labels_column", "labels_row", "labels_empty"),
            *("labels_clip_id", "labels_source"),
            *("label_duplicate", "label_missing", "label_not_a_number", "label_out_of_range"),
        ),
        Code("data", "correct labels.csv as docs/data_format.md shows"),
    ),
    "causes_broken": Code("data", "correct causes.json as docs/data_format.md shows"),
    "causes_missing": Code(
        "data", "write the causes of every clip of the reference data, or remove the key causes from task.yaml"
    ),
    "observations_broken": Code("data", "correct observations.json as docs/data_format.md shows"),
    "groups_broken": Code("data", "correct groups.csv as docs/data_format.md shows"),
    "landmarks_broken": Code("data", "compute them again with: bundle data baselines"),
    "key_frames_broken": Code("data", "create them again with: bundle data key-frames", warning=True),
    "jury_broken": Code("data", "run again: bundle jury score --write"),
    "version_mismatch": Code("settings", "give the phase's task input data and reference data of the same version"),
    "seal_key_broken": Code("settings", "build the bundle again with `bundle build` and upload both programs"),
    "format_differs": Code("run", "upload the ingestion and scoring programs of one release"),
    "release_differs": Code("run", "upload the programs of one release", warning=True),
    "results_missing": Code("run", "submit again, or ask for a re-run; if it happens again, tell the organisers"),
    "own_command_ran": Code("run", "remove metadata and metadata.yaml from the zip, and submit again", _YOURS),
    "record_of_another": Code("run", "submit only your own model", _YOURS),
    "ingestion_failed": Code("run", _AGAIN),
    "results_unsealed": Code("run", "submit again; organisers: upload both programs from one build of the bundle"),
    "results_damaged": Code("run", f"{_AGAIN}; a zip needs no file of that name at its top"),
    "run_record_broken": Code("run", "use the ingestion and scoring programs of one release, and run again"),
    "record_broken": Code("run", _AGAIN),
    "run_invalid": Code("run", "read the ingestion log", _YOURS),
    "run_stopped": Code("run", "read the ingestion log"),
    "clips_undecodable": Code("data", "replace the files, and run every submission again"),
    "clips_missing": Code("data", "check that the input data hold every clip of the reference data", warning=True),
    "records_stray": Code("data", "run again", warning=True),
    "files_ignored": Code(
        "run",
        "nothing to do: these files were ignored, as a submission can neither add nor replace results",
        _YOURS,
        warning=True,
    ),
    "protected_attribute": Code(
        "explain",
        "describe what can be seen and heard; docs/language.md lists the words looked for",
        _YOURS,
        warning=True,
    ),
    "passes_differ": Code(
        "predict",
        "predict alike whenever and however often a clip is shown; the second pass counts",
        _YOURS,
        warning=True,
    ),
    "yardstick_missing": Code("data", "use clips of more people, with more kinds of parts", warning=True),
    "internal_error": Code("run", "run the scoring program by hand on the same input to see the full error"),
}


@dataclass(frozen=True)
class Problem:
    """One problem, or several that read alike; the fields are those of docs/output_format.md."""

    code: str
    """Short, stable name in snake case, such as ``label_missing``."""
    stage: str
    """``settings``, ``data``, ``load``, ``predict``, ``explain`` or ``run``."""
    where: str
    """The clip, file, line or key."""
    found: str
    """What was found; never a label value."""
    expected: str
    fix: str
    severity: str = "error"
    """``error`` or ``warning``."""
    fault: str = "organiser"
    """``participant`` or ``organiser``."""
    count: int = 1
    """How often it occurred, >= 1."""

    @property
    def yours(self) -> bool:
        """Whether the participant can fix it."""
        return self.fault == "participant"

    def line(self) -> str:
        """Return the problem as one line for the log."""
        found = f"found {self.found}" if self.found else ""
        expected = f"expected {self.expected}" if self.expected else ""
        parts = (self.code, self.where, found, expected, self.fix)
        return one_line(" · ".join(part for part in parts if part), 600)


def wrong(code: str, where: str, found: str, expected: str, *, warning: bool = False) -> Problem:
    """Make a problem; stage, fix and fault come from the code.

    `code`: a key of `CODES`. `warning`: whether the run is still scored, even if the code is an error.
    """
    known = CODES[code]
    severity = "warning" if warning or known.warning else "error"
    return Problem(code, known.stage, where, found, expected, known.fix, severity, known.fault)


class ScoringError(Exception):
    """The run cannot be scored, for the reasons in ``problems``; raised only before any label is used.

    If it were raised later, the status "Failed" (which costs no attempt) would depend on labels and reveal them.
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
    """Settings, reference data or the program are at fault, not the participant."""

    exit_code = 2


def internal_problem(error: Exception) -> Problem:
    """Describe an unexpected error by its type and place only: its message may quote a label."""
    frames = extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "the scoring program"
    # It does not use `wrong`, because it must work even if everything else is broken.
    code, known = "internal_error", CODES["internal_error"]
    return Problem(code, known.stage, where, type(error).__name__, "no unexpected error", known.fix)
