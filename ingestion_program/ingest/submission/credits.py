"""`credits.yaml` of a submission: what it builds on. Read before the model runs; recorded, never judged."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import yaml

from ingest.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path

FILE = "credits.yaml"
FORMAT_VERSION = 1
LARGEST_FILE = 16 * 2**10
MOST_CREDITS = 20
LONGEST_TEXT = 200
_SUBMISSION = re.compile(r"[0-9a-f]{8,64}")
_REPOSITORY = re.compile(r"https://[\w.-]+(?:/[\w.~%+-]+)*/?", re.ASCII)
_EXPECTED = "the format that the page Submission shows"


@dataclass(frozen=True)
class Credit:
    """One thing that a submission builds on; either a submission or a repository."""

    submission: str | None
    """The first 8 to 64 digits of its SHA-256, as its report names it."""
    repository: str | None
    """Address, `https://…`."""
    used: str
    """What was used, in at most 200 characters of one line."""

    def record(self) -> dict[str, Any]:
        """Return the credit for `run.json`."""
        return asdict(self)


class _PlainLoader(yaml.BaseLoader):
    """YAML with texts only and without references, which could expand a few lines to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a reference (*)")
        return super().compose_node(parent, index)


def read_credits(submission: Path) -> tuple[tuple[Credit, ...], list[Problem]]:
    """Read the credits of a submission.

    Returns the valid credits, none without the file; and a warning for each mistake, since credits never affect the
    score.
    """
    path = submission / FILE
    if path.is_symlink() or not path.is_file():
        return (), []
    if path.stat().st_size > LARGEST_FILE:
        return (), [_warning(FILE, f"{path.stat().st_size} bytes", f"at most {LARGEST_FILE}")]
    try:
        root = yaml.load(path.read_bytes(), _PlainLoader)  # noqa: S506 - texts alone
    except (yaml.YAMLError, ValueError, LookupError, OverflowError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        return (), [_warning(f"{FILE}{line}", "unreadable YAML", _EXPECTED)]
    if not isinstance(root, dict) or root.get("format_version") != str(FORMAT_VERSION):
        return (), [_warning(FILE, "no format_version", f"format_version: {FORMAT_VERSION}")]
    given = root.get("credits")
    if not isinstance(given, list):
        return (), [_warning(f"{FILE}, credits", "no list", _EXPECTED)]
    problems: list[Problem] = []
    if len(given) > MOST_CREDITS:
        problems.append(_warning(f"{FILE}, credits", f"{len(given)} entries", f"at most {MOST_CREDITS}"))
    read = [_credit(entry, f"{FILE}, entry {number}", problems) for number, entry in enumerate(given[:MOST_CREDITS], 1)]
    return tuple(dict.fromkeys(credit for credit in read if credit is not None)), problems


def _credit(entry: object, where: str, problems: list[Problem]) -> Credit | None:
    if not isinstance(entry, dict) or not entry.keys() <= {"submission", "repository", "used"}:
        problems.append(_warning(where, "unknown keys", "submission or repository, and used"))
        return None
    submission, repository, used = (entry.get(key) for key in ("submission", "repository", "used"))
    before = len(problems)
    if (submission is None) == (repository is None):
        problems.append(_warning(where, "both or neither", "one of submission and repository"))
    if submission is not None and not (isinstance(submission, str) and _SUBMISSION.fullmatch(submission)):
        expected = "the first 8 to 64 digits of a SHA-256, in quotes"
        problems.append(_warning(f"{where}, submission", "a different value", expected))
    if repository is not None and not (
        isinstance(repository, str) and len(repository) <= LONGEST_TEXT and _REPOSITORY.fullmatch(repository)
    ):
        problems.append(
            _warning(f"{where}, repository", "a different value", "an address such as https://host/owner/name")
        )
    if not isinstance(used, str) or not used.strip() or len(used) > LONGEST_TEXT or not used.isprintable():
        problems.append(_warning(f"{where}, used", "no text", f"one line of 1 to {LONGEST_TEXT} characters"))
        return None
    return Credit(submission, repository, used.strip()) if len(problems) == before else None


def _warning(where: str, found: str, expected: str) -> Problem:
    fix = "correct credits.yaml; wrong entries are ignored and cost nothing"
    return Problem("credits_broken", "load", where, found, expected, fix, severity="warning")
