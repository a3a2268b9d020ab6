"""Reference data besides the labels: causes of each label, what people pointed at, and groups.

They are as secret as labels: no message quotes a value.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from score.errors import OrganiserError, Problem
from score.read.reference import Attribute, Reference, read_groups
from score.read.tables import FileReader, finite_number, mapping, whole_number
from score.settings import Settings

FORMAT_VERSION = 1
_MOST_CELLS = 4096
_MOST_BINS = 3600
_MOST_POINTS = 1000
_CLIP_KEYS = {"contributions", "space", "time", "texts"}

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Read = TypeVar("Read")


@dataclass(frozen=True)
class ClipCauses:
    """Why one clip has its labels."""

    contributions: Array
    """(k, v) exact contribution of each cue of the vocabulary to each target, on the unit scale; 0: not a cause."""
    space: dict[str, Mask]
    """For each cue with a place: (rows * columns,) whether it touches a cell at any time."""
    time: dict[str, Mask]
    """For each cue with a time: (bins,) whether it is active."""


@dataclass(frozen=True)
class Causes:
    """Known causes of a phase."""

    rows: int
    columns: int
    clips: dict[str, ClipCauses]
    """Causes of every clip of the reference, by clip id."""


@dataclass(frozen=True)
class Observation:
    """One thing that people pointed at."""

    start_s: float
    """Start in seconds."""
    end_s: float
    """End in seconds, > start."""
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom as shares of the frame; None if they named only a time."""


@dataclass(frozen=True)
class Known:
    """What the organiser knows besides the labels; each part is None or empty if the phase has none."""

    causes: Causes | None = None
    observations: dict[str, tuple[Observation, ...]] | None = None
    """What people pointed at, by clip id."""
    groups: tuple[Attribute, ...] = ()
    """Groups of the people in the clips, by attribute."""


def read_known(folder: Path, settings: Settings, reference: Reference) -> Known:
    """Read the files that the settings name, for the clips of the reference.

    Raises OrganiserError with every problem of all files at once.
    """
    problems: list[Problem] = []

    def of(name: str | None, read: Callable[[Path], Read]) -> Read | None:
        try:
            return read(folder / name) if name else None
        except OrganiserError as error:
            problems.extend(error.problems)
            return None

    # The starting kit has no table of groups: attributes of people are not published.
    groups = settings.groups if settings.groups and (folder / settings.groups).exists() else None
    known = Known(
        causes=of(settings.causes, lambda path: read_causes(path, settings, reference.clip_ids)),
        observations=of(settings.observations, lambda path: read_observations(path, reference.clip_ids)),
        groups=of(groups, lambda path: read_groups(path, settings, reference)) or (),
    )
    if problems:
        raise OrganiserError("The known causes or observations have mistakes.", problems)
    return known


def read_causes(path: Path, settings: Settings, clip_ids: Iterable[str]) -> Causes:
    """Read ``causes.json``.

    Raises OrganiserError with every problem of the file at once, including clips of the reference without causes.
    """
    file = FileReader(path.name, "causes_broken")
    root = file.json(path, FORMAT_VERSION)
    grid = mapping(root.get("grid"))
    rows, columns = (whole_number(grid.get(key), 1, _MOST_CELLS) or 0 for key in ("rows", "columns"))
    if not 1 <= rows * columns <= _MOST_CELLS:
        file.wrong("grid", "no grid", "rows and columns")
    if finite_number(root.get("bin_s")) != 1:
        file.wrong("bin_s", "different numbers", "1.0")
    clips = mapping(root.get("clips"))
    if not isinstance(root.get("clips"), dict):
        file.wrong("clips", "no clips", "a mapping of clip ids to causes")
    file.finish("The known causes have mistakes.")
    read: dict[str, ClipCauses] = {}
    for clip_id in clip_ids:
        if file.full:
            break
        where = f"clip {clip_id}"
        if clip_id not in clips:
            file.wrong(where, "nothing", "the causes of the clip", "causes_missing")
        elif cause := _clip(clips[clip_id], where, rows * columns, settings, file):
            read[clip_id] = cause
    file.finish("The known causes have mistakes.")
    return Causes(rows, columns, read)


def _clip(record: object, where: str, cells: int, settings: Settings, file: FileReader) -> ClipCauses | None:
    if not isinstance(record, dict) or not record.keys() <= _CLIP_KEYS:
        file.wrong(where, "a different structure", "contributions, space and time")
        return None
    vocabulary = settings.explanation_score.vocabulary
    contributions = _contributions(record.get("contributions"), settings)
    if contributions is None:
        expected = "for every target a finite contribution of each causal cue of the vocabulary"
        file.wrong(f"{where}, contributions", "missing or unknown keys", expected)
        return None
    space = _parts(record.get("space"), vocabulary, lambda value: _occupancy(value, cells))
    time = _parts(record.get("time"), vocabulary, _activity)
    if space is None:
        file.wrong(
            f"{where}, space", "a different structure", f"per cue one hexadecimal number of {cells} bits per second"
        )
    if time is None:
        file.wrong(f"{where}, time", "a different structure", "per cue 0 or 1 per second")
    return ClipCauses(contributions, space or {}, time or {})


def _contributions(record: object, settings: Settings) -> Array | None:
    if not isinstance(record, dict) or record.keys() != set(settings.names):
        return None
    column_of = {cue: number for number, cue in enumerate(settings.explanation_score.vocabulary)}
    result = np.zeros((len(settings.targets), len(column_of)))
    for row, target in zip(result, settings.targets, strict=True):
        cues = record[target.name]
        if not isinstance(cues, dict) or not cues.keys() <= column_of.keys():
            return None
        for cue, value in cues.items():
            number = finite_number(value)
            if number is None:
                return None
            row[column_of[cue]] = number / (target.maximum - target.minimum)
    return result


def _parts(record: object, vocabulary: Iterable[str], read: Callable[[object], Mask | None]) -> dict[str, Mask] | None:
    """Read one mask for each cue; None after any mistake."""
    if record is None:
        return {}
    if not isinstance(record, dict) or not record.keys() <= set(vocabulary):
        return None
    masks = {cue: read(value) for cue, value in record.items()}
    read_masks = {cue: mask for cue, mask in masks.items() if mask is not None}
    return read_masks if len(read_masks) == len(masks) else None


def _occupancy(value: object, cells: int) -> Mask | None:
    digits = -(-cells // 4)
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_BINS:
        return None
    union = 0
    for text in value:
        if not isinstance(text, str) or len(text) != digits or not set(text) <= set("0123456789abcdef"):
            return None
        union |= int(text, 16)
    bits = np.frombuffer(f"{union:0{4 * digits}b}".encode(), np.uint8) == ord("1")  # the first character is cell 0
    return np.asarray(bits[:cells])


def _activity(value: object) -> Mask | None:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_BINS:
        return None
    if any(type(flag) is not int or flag not in (0, 1) for flag in value):
        return None
    return np.array(value, dtype=bool)


def read_observations(path: Path, clip_ids: Iterable[str]) -> dict[str, tuple[Observation, ...]]:
    """Read ``observations.json``: what people pointed at, by clip id; clips without an entry have none.

    Raises OrganiserError with every problem of the file at once.
    """
    file = FileReader(path.name, "observations_broken")
    record = file.json(path, FORMAT_VERSION).get("clips")
    clips = mapping(record)
    if not isinstance(record, dict) and not file.problems:
        file.wrong("clips", "no clips", "clip ids with lists of observations")
    points_of = {clip_id: _points(clips[clip_id]) for clip_id in clip_ids if clip_id in clips}
    expected = "a list of start_s < end_s and a box [left, top, right, bottom] in fractions, or null"
    for clip_id, points in points_of.items():
        if points is None and not file.full:
            file.wrong(f"clip {clip_id}", "a different structure", expected)
    file.finish("The observations have mistakes.")
    return {clip_id: points or () for clip_id, points in points_of.items()}


def _points(items: object) -> tuple[Observation, ...] | None:
    if not isinstance(items, list) or len(items) > _MOST_POINTS:
        return None
    points = []
    for item in items:
        if not isinstance(item, dict) or not item.keys() <= {"start_s", "end_s", "box"}:
            return None
        start, end = (finite_number(item.get(key), 0, _MOST_BINS) for key in ("start_s", "end_s"))
        if start is None or end is None or not start < end:
            return None
        box = _box(item["box"]) if item.get("box") is not None else None
        if box is None and item.get("box") is not None:
            return None
        points.append(Observation(start, end, box))
    return tuple(points)


def _box(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    left, top, right, bottom = (finite_number(end, 0, 1) for end in value)
    if left is None or top is None or right is None or bottom is None or not (left < right and top < bottom):
        return None
    return left, top, right, bottom
