"""The record files of ingestion, line by line: predictions, explanations, and how each clip went."""

from __future__ import annotations

import csv
import math
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Any

from score.errors import MOST_FOUND, Problem
from score.read.output.explanation_record import Explanation, parse_explanation
from score.read.output.probe_record import Probes, read_probes
from score.read.reference.labels import CLIP_ID
from score.read.strict_json import StrictJsonError, parse_object
from score.settings import Settings

STATUSES = ("ok", "failed", "not_reached", "unreadable")
_LONGEST_LINE = 16 * 2**20
_MOST_PROBLEMS = 20
_SEES_CLIPS = ("predict", "explain")


@dataclass(frozen=True)
class ClipRecord:
    """How one clip went in ingestion."""

    status: str
    """``ok``, ``failed``, ``not_reached`` or ``unreadable``."""
    problems: tuple[Problem, ...]
    """What went wrong, at most 20."""


def read_clips(data: bytes, settings: Settings, problems: list[Problem]) -> dict[str, ClipRecord]:
    """Read ``clips.jsonl``; what is wrong is added to ``problems``."""
    records: dict[str, ClipRecord] = {}
    for where, record in _objects("clips.jsonl", data, problems):
        clip_id = _clip_id(record, where, records.keys(), problems)
        status = record.get("status")
        if status not in STATUSES:
            problems.append(_broken(where, "a status that is not known", "one of " + ", ".join(STATUSES)))
        elif clip_id:
            records[clip_id] = ClipRecord(status, parse_problems(record.get("problems"), settings))
    return records


def read_explanations(
    data: bytes, settings: Settings, images: frozenset[str], problems: list[Problem]
) -> dict[str, Explanation]:
    """Read ``explanations.jsonl``; what is wrong is added to ``problems``."""
    explanations: dict[str, Explanation] = {}
    for where, record in _objects("explanations.jsonl", data, problems):
        clip_id = _clip_id(record, where, explanations.keys(), problems)
        if clip_id:
            explanations[clip_id] = parse_explanation(record, settings, images)
    return explanations


def read_probe_calls(
    data: bytes, settings: Settings, explanations: dict[str, Explanation], problems: list[Problem]
) -> Probes:
    """Read ``probes.jsonl``; what is wrong is added to ``problems``."""
    return read_probes(_objects("probes.jsonl", data, problems), settings, explanations, problems)


def read_predictions(data: bytes, settings: Settings, problems: list[Problem]) -> dict[str, tuple[float, ...]]:
    """Read ``predictions.csv``: for each clip one number a target, finite and in range."""
    name = "predictions.csv"
    wanted = ["clip_id", *settings.names]
    try:
        lines = _complete_lines(name, data.decode(), problems)
        header, *rows = csv.reader(lines, strict=True) if lines else [[]]
    except (UnicodeDecodeError, csv.Error):
        problems.append(_broken(name, "text that is not CSV in UTF-8", ",".join(wanted)))
        return {}
    if header != wanted:
        problems.append(_broken(f"{name}, line 1", "other columns than the reference data have", ",".join(wanted)))
        return {}
    predictions: dict[str, tuple[float, ...]] = {}
    for number, cells in enumerate(rows, 2):
        if len(problems) >= MOST_FOUND:
            break
        where = f"{name}, line {number}"
        clip_id = _clip_id({"clip_id": cells[0] if cells else ""}, where, predictions.keys(), problems)
        values = _values(cells[1:], settings)
        if values is None:
            expected = "one finite number in its range for each target"
            problems.append(_broken(where, "a number missing, not finite or out of range", expected))
        elif clip_id:
            predictions[clip_id] = values
    return predictions


def parse_problems(items: object, settings: Settings) -> tuple[Problem, ...]:
    """Take problems that ingestion recorded; fields that are missing or of another type become empty.

    Where single clips are closed, a model must not talk to its author about them, and the text of an exception is
    talk: what it said is dropped here, before any log or page can show it.
    """
    found = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    problems = (
        Problem(
            **{key: _short(item.get(key)) for key in ("code", "stage", "where", "found", "expected", "fix")},
            severity="warning" if item.get("severity") == "warning" else "error",
            fault="organiser" if item.get("fault") == "organiser" else "participant",
        )
        for item in found[:_MOST_PROBLEMS]
    )
    if settings.report.clips:
        return tuple(problems)
    return tuple(replace(item, where="", found="") if item.stage in _SEES_CLIPS else item for item in problems)


def _short(value: object) -> str:
    return value[:2000] if isinstance(value, str) else ""


def _broken(where: str, found: str, expected: str, severity: str = "error") -> Problem:
    fix = "submit again; if it happens again, tell the organisers"
    return Problem("record_broken", "run", where, found, expected, fix, severity)


def _clip_id(record: dict[str, Any], where: str, seen: Container[str], problems: list[Problem]) -> str:
    """Take the record's clip id; an empty text, and a problem, when it cannot be one."""
    clip_id = record.get("clip_id")
    if not isinstance(clip_id, str) or not CLIP_ID.fullmatch(clip_id):
        problems.append(_broken(where, "a clip id that is not allowed", CLIP_ID.pattern))
    elif clip_id in seen:
        problems.append(_broken(where, "a clip a second time", "each clip once"))
    else:
        return clip_id
    return ""


def _complete_lines(name: str, text: str, problems: list[Problem]) -> list[str]:
    """Split into lines. A last line without an end was cut off by a kill: it is left out, and said."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines.pop():
        where = f"{name}, line {len(lines) + 1}"
        problems.append(_broken(where, "a last line without an end, left out", "whole lines", "warning"))
    return lines


def _objects(name: str, data: bytes, problems: list[Problem]) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = data.split(b"\n")
    last = len(lines) - (not lines[-1])
    for number, line in enumerate(lines[:last], 1):
        if len(problems) >= MOST_FOUND:
            return
        where = f"{name}, line {number}"
        try:
            yield where, parse_object(line, _LONGEST_LINE)
        except StrictJsonError as error:
            cut_off = number == len(lines)  # only a line without an end can have been cut off by a kill
            found = f"{error}, left out" if cut_off else str(error)
            problems.append(_broken(where, found, "one JSON object", "warning" if cut_off else "error"))


def _values(cells: list[str], settings: Settings) -> tuple[float, ...] | None:
    if len(cells) != len(settings.targets):
        return None
    try:
        values = tuple(float(cell) for cell in cells)
    except ValueError:
        return None
    good = all(
        math.isfinite(value) and target.minimum <= value <= target.maximum
        for target, value in zip(settings.targets, values, strict=True)
    )
    return values if good else None
