"""Rules about the data of this project's tasks: both sides agree, and every clip is there, whole and readable.

They apply to a task whose input and reference data both hold a `task.yaml` (docs/data_format.md).
"""

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.causes import check_causes
from bundle_tools.challenge.rules.clips.copies import check_copies
from bundle_tools.challenge.rules.clips.exchanges import check_exchanges
from bundle_tools.challenge.rules.clips.groups import check_groups
from bundle_tools.challenge.rules.clips.jury import check_jury
from bundle_tools.challenge.rules.clips.key_frames import check_key_frames
from bundle_tools.challenge.rules.clips.listed import CLIP_ID, check_alike, check_extra, check_files
from bundle_tools.challenge.rules.clips.probes import check_probes
from bundle_tools.challenge.rules.clips.ranking import check_ranking
from bundle_tools.challenge.rules.clips.results import check_results
from bundle_tools.challenge.rules.clips.side import ListForm, Side, read_list
from bundle_tools.challenge.rules.clips.tables import numbers, read_settings
from bundle_tools.challenge.rules.clips.video import Video
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown
from bundle_tools.console import Progress

CLIPS = ListForm("clips", ["clip_id", "file", "sha256"], "clips-missing", "clips-header")


def check_data(draft: Draft) -> Iterator[Finding]:
    """Find where input data, reference data and phases contradict each other, and clips that cannot be used.

    Every clip is decoded whole, so that large sets take a while; the draft's `progress` is told of each clip of a task.
    """
    for position, task in draft.entries("tasks"):
        given, wanted = find(draft, task.get("input_data")), find(draft, task.get("reference_data"))
        if given is None or wanted is None or not all("task.yaml" in side.names() for side in (given, wanted)):
            continue
        ours, theirs = read_settings(given), read_settings(wanted)
        for kind, settings in (("input data", ours), ("reference data", theirs)):
            if settings is None:
                what, fix = f"task.yaml of the {kind} is not a mapping of settings.", "See docs/data_format.md."
                yield Finding("data-settings", "error", draft.at("tasks", position), what, FAILS_LATER, fix)
        if ours is None or theirs is None:
            continue
        inputs = Side("input data", task["input_data"], given, ours)
        reference = Side("reference data", task["reference_data"], wanted, theirs)
        yield from _check_agreement(draft, task.get("index"), inputs, reference)
        files: dict[str, str] = {}
        videos: dict[str, Video] = {}
        yield from _check_clips(inputs, files, videos, draft.progress)
        ids = list(files)
        yield from check_copies(inputs, ids, videos, draft.progress)
        yield from check_exchanges(inputs, files, videos, draft.progress)
        yield from check_probes(inputs, len(ids))
        yield from check_ranking(draft, inputs, reference, ids)
        yield from check_results(inputs, ids)
        yield from _check_labels(reference, ours, ids)
        yield from check_causes(reference, ours)
        yield from check_key_frames(reference)
        yield from check_jury(reference)
        yield from check_groups(reference)


def _check_agreement(draft: Draft, index: object, inputs: Side, reference: Side) -> Iterator[Finding]:
    where, given, wanted = inputs.at("task.yaml"), inputs.settings, reference.settings
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
    title, named = draft.content.get("title"), wanted.get("challenge")
    if isinstance(title, str) and isinstance(named, str) and named.strip() != title.strip():
        what = f"challenge: {shown(named)}; the title of the competition is {shown(title)}."
        effect = "Reports, and the line to cite a score by, carry another name than the competition."
        fix = "Write the title here, too; pages and starting kit may hold the earlier one."
        yield Finding("data-challenge", "warning", reference.at("task.yaml"), what, effect, fix)
    limits = given.get("limits")
    limit = limits.get("time_limit_s") if isinstance(limits, dict) else None
    for _, phase in draft.entries("phases"):
        tasks = phase.get("tasks")
        if isinstance(tasks, list) and index in tasks:
            allowed = phase.get("execution_time_limit", 600) or 600
            if limit != allowed:
                what = f"time_limit_s: {shown(limit)}; execution_time_limit of the phase is {shown(allowed)}."
                effect = "Ingestion ends too early, or the platform kills it."
                yield Finding("data-time-limit", "error", where, what, effect, "Write the same number.")


def _check_clips(
    side: Side, files: dict[str, str], videos: dict[str, Video], progress: Progress | None
) -> Iterator[Finding]:
    name = str(side.settings.get("clips"))
    rows = yield from read_list(side, name, CLIPS)
    if rows is None:
        return
    where, ids = side.at(name), list[str]()
    yield from check_files(where, rows, side.data, videos, ids, progress)
    named = {row[0]: row[1] for row in rows if len(row) == len(CLIPS.header)}
    files.update((clip, named[clip]) for clip in ids)
    yield from check_alike(where, videos)
    yield from check_extra(
        "clips-extra", "clips", where, side.data, {row[1] for row in rows if len(row) == len(CLIPS.header)}
    )
    if not ids:
        yield Finding("clips-none", "error", where, "The list holds no clip.", FAILS_LATER, "Add clips.")


def _check_labels(side: Side, settings: dict[str, Any], ids: list[str]) -> Iterator[Finding]:
    where, data = side.at("labels.csv"), side.data
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
