"""Rules about the data of this project's tasks: both sides agree, and every clip is there, whole and readable.

They apply to a task whose input and reference data both hold a `task.yaml` (docs/data_format.md).
"""

import csv
import io
import math
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from bundle_tools.check.clips.causes import check_causes
from bundle_tools.check.clips.copies import check_copies
from bundle_tools.check.clips.groups import check_groups
from bundle_tools.check.clips.jury import check_jury
from bundle_tools.check.clips.key_frames import check_key_frames
from bundle_tools.check.clips.listed import CLIP_ID, check_alike, check_files
from bundle_tools.check.clips.probes import check_probes
from bundle_tools.check.clips.results import check_results
from bundle_tools.check.clips.tables import numbers, read_settings
from bundle_tools.check.clips.video import Video
from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import FAILS_LATER, Finding, shown
from bundle_tools.console import Progress

CLIPS_HEADER = ["clip_id", "file", "sha256"]


def check_data(draft: Draft, progress: Progress | None = None) -> Iterator[Finding]:
    """Find where input data, reference data and phases contradict each other, and clips that cannot be used.

    Every clip is decoded whole, so that large sets take a while; `progress` is told of each clip of a task.
    """
    for position, task in draft.entries("tasks"):
        given, wanted = find(draft, task.get("input_data")), find(draft, task.get("reference_data"))
        if given is None or wanted is None or not all("task.yaml" in side.names() for side in (given, wanted)):
            continue
        sides = {"input data": read_settings(given), "reference data": read_settings(wanted)}
        broken = [side for side, settings in sides.items() if settings is None]
        where = draft.at("tasks", position)
        for side in broken:
            what = f"task.yaml of the {side} is not a mapping of settings."
            yield Finding("data-settings", "error", where, what, FAILS_LATER, "See docs/data_format.md.")
        if broken:
            continue
        ours, theirs = sides["input data"] or {}, sides["reference data"] or {}
        yield from _check_agreement(draft, position, task, ours, theirs)
        ids: list[str] = []
        videos: dict[str, Video] = {}
        yield from _check_clips(task["input_data"], given, ours, ids, videos, progress)
        yield from check_copies(task["input_data"], given, ours, ids, videos, progress)
        yield from check_probes(task["input_data"], given, ours, len(ids))
        yield from check_results(task["input_data"], given, ours, ids)
        yield from _check_labels(task["reference_data"], wanted, ours, ids)
        yield from check_causes(task["reference_data"], wanted, theirs, ours)
        yield from check_key_frames(task["reference_data"], wanted, theirs)
        yield from check_jury(task["reference_data"], wanted, theirs)
        yield from check_groups(task["reference_data"], wanted, theirs)


def _check_agreement(
    draft: Draft, position: int, task: dict[str, Any], given: dict[str, Any], wanted: dict[str, Any]
) -> Iterator[Finding]:
    where = str(PurePosixPath(task["input_data"]) / "task.yaml")
    for key in ("task", "data_version"):
        if given.get(key) != wanted.get(key) or given.get(key) is None:
            what = f"{key}: {shown(given.get(key))} in the input data, {shown(wanted.get(key))} in the reference data."
            yield Finding(
                "data-version", "error", where, what, "Scoring refuses to mix them.", "Generate both together."
            )
    if _targets(given) != _targets(wanted) or not _targets(given):
        what = f"Targets: {_targets(given)} in the input data, {_targets(wanted)} in the reference data."
        effect = "Predictions are judged against other names or ranges."
        yield Finding("data-targets", "error", where, what, effect, "Make names, order and ranges equal.")
    limits = given.get("limits")
    limit = limits.get("time_limit_s") if isinstance(limits, dict) else None
    for _, phase in draft.entries("phases"):
        tasks = phase.get("tasks")
        if isinstance(tasks, list) and task.get("index") in tasks:
            allowed = phase.get("execution_time_limit", 600) or 600
            if limit != allowed:
                what = f"time_limit_s: {shown(limit)}; execution_time_limit of the phase is {shown(allowed)}."
                effect = "Ingestion ends too early, or the platform kills it."
                yield Finding("data-time-limit", "error", where, what, effect, "Write the same number.")


def _check_clips(
    folder: str,
    data: Dataset,
    settings: dict[str, Any],
    ids: list[str],
    videos: dict[str, Video],
    progress: Progress | None,
) -> Iterator[Finding]:
    name = str(settings.get("clips"))
    where = str(PurePosixPath(folder) / name)
    names = set(data.names())
    if name not in names:
        yield Finding("clips-missing", "error", where, "The list of clips is missing.", FAILS_LATER, "Generate it.")
        return
    rows = list(csv.reader(io.StringIO(data.text(name))))
    if not rows or rows[0] != CLIPS_HEADER:
        what = f"Expected the header {','.join(CLIPS_HEADER)}; found {shown(','.join(rows[0]) if rows else '')}."
        yield Finding("clips-header", "error", where, what, FAILS_LATER, "Correct the header.")
        return
    yield from check_files(where, rows[1:], data, videos, ids, progress)
    yield from check_alike(where, videos)
    listed = {row[1] for row in rows[1:] if len(row) == len(CLIPS_HEADER)}
    extra = sorted(other for other in names if other.startswith("clips/") and other not in listed)
    if extra:
        what = f"{len(extra)} files that the list does not name, such as {extra[0]}."
        yield Finding("clips-extra", "warning", where, what, "They are packed and never used.", "Delete them.")
    if not ids:
        yield Finding("clips-none", "error", where, "The list holds no clip.", FAILS_LATER, "Add clips.")


def _check_labels(folder: str, data: Dataset, settings: dict[str, Any], ids: list[str]) -> Iterator[Finding]:
    where = str(PurePosixPath(folder) / "labels.csv")
    if "labels.csv" not in data.names():
        yield Finding("labels-missing", "error", where, "The labels are missing.", FAILS_LATER, "Generate them.")
        return
    rows = list(csv.reader(io.StringIO(data.text("labels.csv"))))
    header = rows[0] if rows else []
    targets = [name for name, *_ in _targets(settings)]
    if header[:2] != ["clip_id", "source_id"] or set(targets) != set(header[2:]):
        what = f"Expected clip_id, source_id and the targets; found {shown(','.join(header))}."
        yield Finding("labels-header", "error", where, what, FAILS_LATER, "Correct the header.")
    yield from _check_values(where, rows, settings)
    labelled = [row[0].strip() for row in rows[1:] if row]
    for kind, clips in (
        ("have no label", sorted(set(ids) - set(labelled))),
        ("have a label and are not in the input data", sorted(set(labelled) - set(ids))),
    ):
        if clips:
            what = f"{len(clips)} clips {kind}, such as {clips[0]}."
            effect = "A clip that nobody can predict, or nobody can score."
            yield Finding("labels-clips", "error", where, what, effect, "Generate both together.")


def _check_values(where: str, rows: list[list[str]], settings: dict[str, Any]) -> Iterator[Finding]:
    """Find what scoring refuses in the table: each kind once, with its first line."""
    header = [name.strip() for name in rows[0]] if rows else []
    ranges = {name: bounds for name, *bounds in _targets(settings)}
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) != len(header):
            found.setdefault(f"rows without {len(header)} cells", []).append(f"{where}:{line}")
            continue
        cells = dict(zip(header, map(str.strip, row), strict=True))
        clip = cells.get("clip_id", "")
        if not CLIP_ID.fullmatch(clip):
            found.setdefault("rows whose clip id is not allowed", []).append(f"{where}:{line}")
        elif clip in seen:
            found.setdefault("rows of clips that stand there already", []).append(f"{where}:{line}")
        seen.add(clip)
        if not cells.get("source_id"):
            found.setdefault("rows without a source id", []).append(f"{where}:{line}")
        for name, bounds in ranges.items():
            fault = _fault(cells[name], bounds) if name in cells else None
            if fault is not None:
                found.setdefault(f"labels of {name} that are {fault}", []).append(f"{where}:{line}")
    for kind, places in found.items():
        fix = "Correct labels.csv as docs/data_format.md shows."
        yield Finding("labels-value", "error", places[0], f"{len(places)} {kind}.", "Every scoring run fails.", fix)


def _fault(cell: str, bounds: list[Any]) -> str | None:
    (value,) = numbers([cell])
    if math.isnan(value) or not cell.isascii() or "_" in cell:
        return "no finite number"
    if not all(isinstance(bound, (int, float)) for bound in bounds):
        # Said elsewhere.
        return None
    return None if bounds[0] <= value <= bounds[1] else f"outside {bounds[0]:g} to {bounds[1]:g}"


def _targets(settings: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    targets = settings.get("targets")
    if not isinstance(targets, list):
        return []
    return [
        (str(target.get("name")), target.get("minimum"), target.get("maximum"))
        for target in targets
        if isinstance(target, dict)
    ]
