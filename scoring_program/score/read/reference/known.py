"""What the organiser knows about each clip beside its labels: causes of the label, what people pointed at, and groups.

All of it is as secret as labels: no message quotes a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from score.errors import MOST_FOUND, OrganiserError, Problem
from score.read.reference.groups import Groups, read_groups
from score.read.reference.labels import Reference
from score.read.strict_json import StrictJsonError, finite_number, parse_object
from score.settings import Settings

FORMAT_VERSION = 1
_LARGEST_FILE = 128 * 2**20
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
    """For each cue that has a place: (rows * columns,) whether a cell is touched at any time."""
    time: dict[str, Mask]
    """For each cue that happens at a time: (bins,) whether it is active."""


@dataclass(frozen=True)
class Causes:
    """Known causes of a phase."""

    rows: int
    """Rows of the grid."""
    columns: int
    """Columns of the grid."""
    clips: dict[str, ClipCauses]
    """By clip id: every clip of the reference."""


@dataclass(frozen=True)
class Observation:
    """One thing that people pointed at."""

    start_s: float
    """Start in seconds."""
    end_s: float
    """End in seconds, > start."""
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom as shares of the frame; None where they named a time alone."""


@dataclass(frozen=True)
class Known:
    """What the organiser knows beside the labels; each part is None where a phase has none."""

    causes: Causes | None
    """Known causes."""
    observations: dict[str, tuple[Observation, ...]] | None
    """What people pointed at, by clip id."""
    groups: Groups | None
    """Which groups the people of the clips belong to."""


NOTHING_KNOWN = Known(None, None, None)


def read_known(folder: Path, settings: Settings, reference: Reference) -> Known:
    """Read the files that the settings name, for the clips of the reference.

    Raises
    ------
    OrganiserError
        With every problem of all files at once.
    """
    problems: list[Problem] = []

    def of(name: str | None, read: Callable[[Path], Read]) -> Read | None:
        try:
            return read(folder / name) if name else None
        except OrganiserError as error:
            problems.extend(error.problems)
            return None

    known = Known(
        causes=of(settings.causes, lambda path: read_causes(path, settings, reference.clip_ids)),
        observations=of(settings.observations, lambda path: read_observations(path, reference.clip_ids)),
        # The starting kit has no table of groups: nobody's attributes are handed out.
        groups=of(_if_there(folder, settings.groups), lambda path: read_groups(path, settings, reference)),
    )
    if problems:
        raise OrganiserError("What is known about the clips has mistakes.", problems)
    return known


def _if_there(folder: Path, name: str | None) -> str | None:
    return name if name and (folder / name).exists() else None


def read_causes(path: Path, settings: Settings, clip_ids: Iterable[str]) -> Causes:
    """Read ``causes.json``.

    Raises
    ------
    OrganiserError
        With every problem of the file at once, a clip of the reference without causes among them.
    """
    problems: list[Problem] = []
    root = _root(path, problems, _broken_causes)
    given = root.get("grid")
    grid: dict[str, Any] = given if isinstance(given, dict) else {}
    rows, columns = (_whole(grid.get(key), 1, _MOST_CELLS) for key in ("rows", "columns"))
    if rows * columns == 0 or rows * columns > _MOST_CELLS:
        problems.append(_broken_causes(f"{path.name}, grid", "no grid", "rows and columns"))
    if finite_number(root.get("bin_s")) != 1:
        problems.append(_broken_causes(f"{path.name}, bin_s", "another number", "1.0"))
    clips = root.get("clips")
    if not isinstance(clips, dict):
        problems.append(_broken_causes(f"{path.name}, clips", "no clips", "a mapping of clip ids to causes"))
        clips = {}
    read: dict[str, ClipCauses] = {}
    if not problems:
        for clip_id in clip_ids:
            if len(problems) >= MOST_FOUND:
                break
            where = f"{path.name}, clip {clip_id}"
            if clip_id not in clips:
                fix = "write the causes of every clip of the reference, or take the key causes out of task.yaml"
                problems.append(Problem("causes_missing", "data", where, "nothing", "the causes of the clip", fix))
            else:
                cause = _clip(clips[clip_id], where, (rows, columns), settings, problems)
                read |= {clip_id: cause} if cause else {}
    if problems:
        raise OrganiserError("The known causes have mistakes.", problems)
    return Causes(rows, columns, read)


def _broken_causes(where: str, found: str, expected: str) -> Problem:
    fix = "correct causes.json as docs/data_format.md shows"
    return Problem("causes_broken", "data", where, found, expected, fix)


def _broken_observations(where: str, found: str, expected: str) -> Problem:
    fix = "correct observations.json as docs/data_format.md shows"
    return Problem("observations_broken", "data", where, found, expected, fix)


def _root(path: Path, problems: list[Problem], broken: Callable[[str, str, str], Problem]) -> dict[str, Any]:
    try:
        # Asking for the largest size would take as much memory for the smallest file.
        with path.open("rb") as stream:
            size = path.stat().st_size
            root = parse_object(stream.read(min(size, _LARGEST_FILE) + 1), _LARGEST_FILE)
    except OSError as error:
        problems.append(broken(path.name, type(error).__name__, "a readable file beside task.yaml"))
        return {}
    except StrictJsonError as error:
        problems.append(broken(path.name, str(error), "one JSON object"))
        return {}
    if _whole(root.get("format_version"), 1, 10**6) != FORMAT_VERSION:
        problems.append(broken(f"{path.name}, format_version", "another version", str(FORMAT_VERSION)))
    return root


def _whole(value: object, low: int, high: int) -> int:
    """Return a whole number inside a range, else 0."""
    return value if type(value) is int and low <= value <= high else 0


def _clip(
    record: object, where: str, grid: tuple[int, int], settings: Settings, problems: list[Problem]
) -> ClipCauses | None:
    if not isinstance(record, dict) or not record.keys() <= _CLIP_KEYS:
        problems.append(_broken_causes(where, "another structure", "contributions, space and time"))
        return None
    vocabulary = settings.explanation.vocabulary
    contributions = _contributions(record.get("contributions"), settings)
    if contributions is None:
        expected = "for every target a finite contribution of each causal cue of the vocabulary"
        problems.append(_broken_causes(f"{where}, contributions", "something missing or unknown", expected))
        return None
    space = _parts(record.get("space"), vocabulary, lambda value: _occupancy(value, grid[0] * grid[1]))
    time = _parts(record.get("time"), vocabulary, _activity)
    if space is None:
        expected = f"for a cue one hexadecimal number of {grid[0] * grid[1]} bits a second"
        problems.append(_broken_causes(f"{where}, space", "another structure", expected))
    if time is None:
        problems.append(_broken_causes(f"{where}, time", "another structure", "for a cue 0 or 1 a second"))
    return ClipCauses(contributions, space or {}, time or {})


def _contributions(given: object, settings: Settings) -> Array | None:
    if not isinstance(given, dict) or given.keys() != set(settings.names):
        return None
    place = {cue: number for number, cue in enumerate(settings.explanation.vocabulary)}
    result = np.zeros((len(settings.targets), len(place)))
    for row, target in zip(result, settings.targets, strict=True):
        cues = given[target.name]
        if not isinstance(cues, dict) or not cues.keys() <= place.keys():
            return None
        for cue, value in cues.items():
            number = finite_number(value)
            if number is None:
                return None
            row[place[cue]] = number / (target.maximum - target.minimum)
    return result


def _parts(given: object, vocabulary: Iterable[str], read: Callable[[object], Mask | None]) -> dict[str, Mask] | None:
    """Read one mask a cue; None when anything is wrong."""
    if given is None:
        return {}
    if not isinstance(given, dict) or not given.keys() <= set(vocabulary):
        return None
    masks = {cue: read(value) for cue, value in given.items()}
    found = {cue: mask for cue, mask in masks.items() if mask is not None}
    return found if len(found) == len(masks) else None


def _occupancy(value: object, cells: int) -> Mask | None:
    digits = -(-cells // 4)
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_BINS:
        return None
    union = 0
    for text in value:
        if not isinstance(text, str) or len(text) != digits or not set(text) <= set("0123456789abcdef"):
            return None
        union |= int(text, 16)
    bits = np.frombuffer(f"{union:0{4 * digits}b}".encode(), np.uint8) == ord("1")  # the first sign is cell 0
    return np.asarray(bits[:cells])


def _activity(value: object) -> Mask | None:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_BINS:
        return None
    if any(type(one) is not int or one not in (0, 1) for one in value):
        return None
    return np.array(value, dtype=bool)


def read_observations(path: Path, clip_ids: Iterable[str]) -> dict[str, tuple[Observation, ...]]:
    """Read ``observations.json``: what people pointed at, by clip id; clips without an entry have none.

    Raises
    ------
    OrganiserError
        With every problem of the file at once.
    """
    problems: list[Problem] = []
    clips = _root(path, problems, _broken_observations).get("clips")
    if not isinstance(clips, dict) and not problems:
        problems.append(_broken_observations(f"{path.name}, clips", "no clips", "clip ids with lists of observations"))
    observations = {}
    for clip_id in clip_ids:
        if not isinstance(clips, dict) or clip_id not in clips:
            continue
        read = _points(clips[clip_id])
        if read is None and len(problems) < MOST_FOUND:
            expected = "a list of start_s < end_s and a box [left, top, right, bottom] in shares, or null"
            problems.append(_broken_observations(f"{path.name}, clip {clip_id}", "another structure", expected))
        observations[clip_id] = read or ()
    if problems:
        raise OrganiserError("The observations have mistakes.", problems)
    return observations


def _points(given: object) -> tuple[Observation, ...] | None:
    if not isinstance(given, list) or len(given) > _MOST_POINTS:
        return None
    points = []
    for item in given:
        if not isinstance(item, dict) or not item.keys() <= {"start_s", "end_s", "box"}:
            return None
        start, end = finite_number(item.get("start_s")), finite_number(item.get("end_s"))
        if start is None or end is None or not 0 <= start < end <= _MOST_BINS:
            return None
        box = _box(item["box"]) if item.get("box") is not None else None
        if box is None and item.get("box") is not None:
            return None
        points.append(Observation(start, end, box))
    return tuple(points)


def _box(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    numbers = [finite_number(one) for one in value]
    left, top, right, bottom = (-1.0 if one is None else one for one in numbers)
    good = 0 <= left < right <= 1 and 0 <= top < bottom <= 1
    return (left, top, right, bottom) if good else None
