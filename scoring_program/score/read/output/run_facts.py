"""What ``run.json`` says about the run as a whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from score.errors import Problem
from score.read.output.manifest import check_format
from score.read.output.records import parse_problems
from score.read.strict_json import StrictJsonError, finite_number, parse_object
from score.settings import Settings

_LARGEST_RUN = 4 * 2**20
_LONGEST_RUN_S = 1e7
_MOST_CREDITS = 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
ISOLATION = {
    "full": "limits, Landlock and seccomp",
    "seccomp": "limits and seccomp, no Landlock",
    "basic": "limits, no kernel filter",
    "portable": "a process of its own, no more",
}
"""What each tier means, in words."""
RUN_STATUSES = ("complete", "partial", "invalid", "organiser_error")


@dataclass(frozen=True)
class Receipt:
    """What became of the clips, or altered copies of clips, that were asked twice."""

    clips: int
    """Clips that were asked a second time, >= 1."""
    identical: int
    """Those with the same answer in every bit."""
    largest_difference: float | None
    """In any target; None where there is none. It is a number that a model can choose."""


@dataclass(frozen=True)
class SecondPass:
    """How far the calls about altered copies of clips came."""

    planned: int
    """Calls that explanations ask for, >= 0."""
    asked: int
    """Those that were reached in time, at most `planned`."""
    answered: int
    """Those with a valid answer, at most `asked`."""
    duration_s: float | None
    """Wall time; None where it is not recorded."""

    def line(self) -> str:
        """Put it into a few words."""
        took = "" if self.duration_s is None else f", {self.duration_s:.1f} s"
        return f"{self.answered} of {self.planned} calls answered{took}"


@dataclass(frozen=True)
class RunFacts:
    """The run, as ingestion recorded it."""

    status: str
    """``complete``, ``partial``, ``invalid`` or ``organiser_error``."""
    task: str
    """Name of the phase in the input data."""
    data_version: str
    """Version of the input data."""
    problems: tuple[Problem, ...]
    """Problems of the whole run."""
    duration_s: float
    """Wall time of ingestion, >= 0."""
    time_limit_s: float | None
    """The phase's time limit."""
    program_version: str
    """Release of the ingestion program."""
    submission_sha256: str
    """Hash of the submission's files; empty where it is not recorded, as the next ones."""
    submission_files: frozenset[str]
    """Of its files, start of the SHA-256 of the content, a space and the name without folders."""
    settings_sha256: str
    """Hash of the settings of ingestion."""
    data_sha256: str
    """Hash of the input data."""
    seed: int | None
    """Seed of ingestion."""
    image: str
    """Name of the image that it ran in, if the image says so."""
    isolation: str
    """Tier of isolation, a key of `ISOLATION` if it is known."""
    receipt: Receipt | None
    """None where no clip was asked twice."""
    receipt_of_copies: Receipt | None
    """None where no altered copy was asked twice."""
    second_pass: SecondPass | None
    """None where nothing was asked about altered copies."""
    results: bool
    """Whether results were submitted instead of code: then nothing was run."""
    details: tuple[tuple[str, str], ...]
    """(label, value) of the facts that the report lists; the participant's own words are in "Builds on" alone."""


def read_run(data: bytes, settings: Settings, problems: list[Problem]) -> RunFacts | None:
    """Read ``run.json``; None, and a problem, when it cannot be used.

    Raises
    ------
    OrganiserError
        If it is of another version than this program reads.
    """
    try:
        run = parse_object(data, _LARGEST_RUN)
    except StrictJsonError as error:
        problems.append(_broken(str(error), "JSON as in docs/output_format.md"))
        return None
    version = run.get("format_version")
    if type(version) is int:
        check_format("run.json", version)
    else:
        problems.append(_broken("no format_version", "a whole number"))
    if run.get("status") not in RUN_STATUSES:
        problems.append(_broken("a status that is not known", "one of " + ", ".join(RUN_STATUSES)))
    duration = _seconds(run.get("duration_s"))
    if duration is None:
        problems.append(_broken("no duration_s", "seconds, >= 0"))
    if problems:
        return None
    probes = run.get("probes")
    second_pass = _second_pass(probes) if isinstance(probes, dict) else None
    return RunFacts(
        status=run["status"],
        task=_text(run.get("task")),
        data_version=_text(run.get("data_version")),
        problems=parse_problems(run.get("problems"), settings),
        duration_s=duration or 0.0,
        time_limit_s=_seconds(run.get("time_limit_s")),
        program_version=_text(run.get("program_version")),
        submission_sha256=_sha256(run.get("submission_sha256")),
        submission_files=_texts(run.get("submission_files")),
        settings_sha256=_sha256(run.get("settings_sha256")),
        data_sha256=_sha256(run.get("data_sha256")),
        seed=run["seed"] if type(run.get("seed")) is int and 0 <= run["seed"] < 2**64 else None,
        image=_text(run.get("image")),
        isolation=_text(run.get("isolation")),
        receipt=_receipt(run.get("determinism")),
        receipt_of_copies=_receipt(probes.get("again")) if isinstance(probes, dict) else None,
        second_pass=second_pass,
        results=run.get("results") is True,
        details=_details(run, second_pass),
    )


def _broken(found: str, expected: str) -> Problem:
    fix = "use the ingestion and the scoring program of one release, and run again"
    return Problem("run_record_broken", "run", "run.json", found, expected, fix)


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _texts(value: object) -> frozenset[str]:
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


def _sha256(value: object) -> str:
    return value if isinstance(value, str) and _SHA256.fullmatch(value) else ""


def _seconds(value: object) -> float | None:
    number = finite_number(value)
    return number if number is not None and 0 <= number <= _LONGEST_RUN_S else None


def _details(run: dict[str, Any], second_pass: SecondPass | None) -> tuple[tuple[str, str], ...]:
    packages = run.get("packages")
    listed = packages.items() if isinstance(packages, dict) else ()
    facts = {
        "Loading the model": f"{load:.1f} s" if (load := _seconds(run.get("load_s"))) is not None else "",
        "Builds on": "; ".join(_credits(run.get("credits"))),
        "Second pass": second_pass.line() if second_pass else "",
        "Processor time": _processor(run.get("processor")),
        "Restarts of the model": str(run["restarts"]) if type(run.get("restarts")) is int else "",
        "Python": _text(run.get("python")),
        "Packages": ", ".join(f"{_text(name)} {_text(version)}" for name, version in list(listed)[:20]),
        "Machine": _text(run.get("machine")),
        "Landlock": _landlock(run.get("landlock")),
    }
    return tuple((label, value) for label, value in facts.items() if value)


def _landlock(given: object) -> str:
    """Name the version that watched over paths."""
    if type(given) is not int or not 0 <= given < 100:
        return ""
    return f"version {given}" if given else "none"


def _processor(given: object) -> str:
    """Put processor seconds into words: what the model took, and how long the run was kept waiting."""
    if not isinstance(given, dict) or (model := _seconds(given.get("model_s"))) is None:
        return ""
    waited = _seconds(given.get("waited_s"))
    kept = "" if waited is None else f", {waited:.1f} s of waiting for a processor"
    return f"{model:.1f} s in the model{kept}" + (": the machine was busy" if given.get("busy") is True else "")


def _credits(given: object) -> list[str]:
    """Put each credit into words: what was used, and from where."""
    lines = []
    for entry in given if isinstance(given, list) else ():
        if isinstance(entry, dict) and (used := _text(entry.get("used"))):
            submission, repository = _text(entry.get("submission")), _text(entry.get("repository"))
            lines.append(f"{used} ({f'submission {submission[:16]}' if submission else repository})")
    return lines[:_MOST_CREDITS]


def _second_pass(probes: dict[str, Any]) -> SecondPass | None:
    planned, asked, answered = (probes.get(key) for key in ("planned", "asked", "answered"))
    if type(planned) is not int or type(answered) is not int or not 0 <= answered <= planned <= 10**9:
        return None
    if type(asked) is not int or not answered <= asked <= planned:
        asked = planned
    return SecondPass(planned, asked, answered, _seconds(probes.get("duration_s")))


def _receipt(receipt: object) -> Receipt | None:
    if not isinstance(receipt, dict):
        return None
    clips, same = receipt.get("clips"), receipt.get("identical")
    if type(clips) is not int or type(same) is not int or not 1 <= clips <= 10**6 or not 0 <= same <= clips:
        return None
    return Receipt(clips, same, finite_number(receipt.get("largest_difference")))
