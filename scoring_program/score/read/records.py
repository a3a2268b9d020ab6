"""The record files of ingestion, line by line: how each clip went, predictions, explanations, and the second pass.

Every reader adds mistakes to a list of problems.
"""

import csv
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from score.errors import Problem
from score.read.answers import (
    KINDS,
    MOST_CALLS,
    BadCallError,
    Explanation,
    ProbeCall,
    numbers_in_range,
    parse_call,
    parse_explanation,
)
from score.read.reference import CLIP_ID
from score.read.tables import FileReader, mapping, short_text
from score.settings import Settings

STATUSES = ("ok", "failed", "not_reached", "unreadable")
_MOST_PROBLEMS = 20
_LONGEST_WORDS = 2000
_WORDS = ("code", "stage", "where", "found", "expected", "fix")
_SEES_CLIPS = ("predict", "explain")
Probes = dict[str, tuple[ProbeCall, ...]]
"""The calls of each clip, by its id, in the order asked."""


@dataclass(frozen=True)
class ClipRecord:
    """How one clip went in ingestion."""

    status: str
    """``ok``, ``failed``, ``not_reached`` or ``unreadable``."""
    problems: tuple[Problem, ...]
    """What went wrong, at most 20."""


@dataclass(frozen=True)
class Repeat:
    """What a fresh process answered to a plain clip."""

    prediction: tuple[float, ...] | None
    """One number for each target, in its range; None without a valid answer."""
    explanation: Explanation
    """Empty without a valid one."""


def read_clips(data: bytes, settings: Settings, problems: list[Problem]) -> dict[str, ClipRecord]:
    """Read ``clips.jsonl``."""
    file = FileReader("clips.jsonl", "record_broken", problems)
    records: dict[str, ClipRecord] = {}
    for where, record in file.objects(data):
        clip_id = _clip_id(record, where, records, file)
        status = record.get("status")
        if status not in STATUSES:
            file.wrong(where, "an unknown status", "one of " + ", ".join(STATUSES))
        elif clip_id:
            records[clip_id] = ClipRecord(status, parse_problems(record.get("problems"), settings))
    return records


def read_explanations(
    data: bytes, settings: Settings, images: frozenset[str], problems: list[Problem]
) -> dict[str, Explanation]:
    """Read ``explanations.jsonl``."""
    file = FileReader("explanations.jsonl", "record_broken", problems)
    explanations: dict[str, Explanation] = {}
    for where, record in file.objects(data):
        if clip_id := _clip_id(record, where, explanations, file):
            explanations[clip_id] = parse_explanation(record, settings, images)
    return explanations


def read_repeats(data: bytes, settings: Settings, problems: list[Problem]) -> dict[str, Repeat]:
    """Read ``repeats.jsonl``."""
    file = FileReader("repeats.jsonl", "record_broken", problems)
    repeats: dict[str, Repeat] = {}
    for where, record in file.objects(data):
        if clip_id := _clip_id(record, where, repeats, file):
            answer = mapping(record.get("prediction"))
            prediction = numbers_in_range([answer.get(name) for name in settings.names], settings)
            explanation = parse_explanation(mapping(record.get("explanation")), settings, frozenset())
            repeats[clip_id] = Repeat(prediction, explanation)
    return repeats


def read_probe_calls(
    data: bytes, settings: Settings, explanations: Mapping[str, Explanation], problems: list[Problem]
) -> Probes:
    """Read ``probes.jsonl``; the explanations of the first pass tell which places exist."""
    file = FileReader("probes.jsonl", "record_broken", problems)
    clips: dict[str, list[ProbeCall]] = {}
    unknown = 0
    for where, record in file.objects(data):
        clip_id, kind = _clip_id(record, where, (), file), record.get("kind")
        if not clip_id:
            continue
        if isinstance(kind, str) and kind not in KINDS:
            unknown += 1
            continue
        try:
            call = parse_call(record, explanations.get(clip_id), settings)
        except BadCallError as error:
            file.wrong(where, str(error), "a call as in docs/output_format.md")
            continue
        calls = clips.setdefault(clip_id, [])
        if any((call.name, call.again) == (other.name, other.again) for other in calls):
            file.wrong(where, "the same call of a clip twice", "each call once")
        elif sum(call.again == other.again for other in calls) >= MOST_CALLS:
            file.wrong(where, f"more than {MOST_CALLS} calls of a clip", f"at most {MOST_CALLS}")
        else:
            calls.append(call)
    if unknown:
        found = f"{unknown} calls of an unknown kind; they were ignored"
        file.wrong("", found, "one of " + ", ".join(KINDS), warning=True)
    return {clip_id: tuple(calls) for clip_id, calls in clips.items()}


def read_predictions(data: bytes, settings: Settings, problems: list[Problem]) -> dict[str, tuple[float, ...]]:
    """Read ``predictions.csv``: for each clip, one finite number in range for each target."""
    file = FileReader("predictions.csv", "record_broken", problems)
    wanted = ["clip_id", *settings.names]
    try:
        header, *rows = [*csv.reader(file.complete_lines(data.decode()), strict=True)] or [[]]
    except (UnicodeDecodeError, csv.Error):
        file.wrong("", "a file that is not CSV in UTF-8", ",".join(wanted))
        return {}
    if header != wanted:
        file.wrong("line 1", "columns that differ from the reference data", ",".join(wanted))
        return {}
    predictions: dict[str, tuple[float, ...]] = {}
    for number, cells in enumerate(rows, 2):
        if file.full:
            break
        where = f"line {number}"
        clip_id = _clip_id({"clip_id": cells[0] if cells else ""}, where, predictions, file)
        values = numbers_in_range(_numbers(cells[1:]), settings)
        if values is None:
            expected = "one finite number in its range for each target"
            file.wrong(where, "a number that is missing, not finite or out of range", expected)
        elif clip_id:
            predictions[clip_id] = values
    return predictions


def parse_problems(items: object, settings: Settings) -> tuple[Problem, ...]:
    """Parse problems that ingestion recorded; missing fields and fields of the wrong type become empty.

    If single clips are closed, a model must not tell its author about them, not even in an exception's text. So what
    was found is dropped here, before any log or page can show it.
    """
    entries = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    problems = tuple(map(_problem, entries[:_MOST_PROBLEMS]))
    if settings.report.clips:
        return problems
    return tuple(replace(item, where="", found="") if item.stage in _SEES_CLIPS else item for item in problems)


def _problem(item: dict[str, Any]) -> Problem:
    severity = "warning" if item.get("severity") == "warning" else "error"
    fault = "organiser" if item.get("fault") == "organiser" else "participant"
    code, stage, where, found, expected, fix = (short_text(item.get(key), _LONGEST_WORDS) for key in _WORDS)
    return Problem(code, stage, where, found, expected, fix, severity, fault)


def _clip_id(record: dict[str, Any], where: str, seen: Container[str], file: FileReader) -> str:
    """Return the record's clip id; if it is invalid, add a problem and return an empty text."""
    clip_id = record.get("clip_id")
    if not isinstance(clip_id, str) or not CLIP_ID.fullmatch(clip_id):
        file.wrong(where, "a clip id that is not allowed", CLIP_ID.pattern)
    elif clip_id in seen:
        file.wrong(where, "a duplicate clip", "each clip once")
    else:
        return clip_id
    return ""


def _numbers(cells: list[str]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return []
