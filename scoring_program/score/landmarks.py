"""Baselines to compare with, and pictures of clips: what a report shows beside a run's own numbers."""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from score.columns import columns, spread_decimals
from score.errors import Problem
from score.metrics import METRICS
from score.read.manifest import is_regular
from score.read.tables import FileReader, finite_number, is_sha256
from score.settings import Settings

FORMAT_VERSION = 1
KINDS = ("constant", "shortcut", "solution", "ceiling")
"""``constant``: the training mean for every clip. ``shortcut``: a method that watches no clip. ``solution``: an example
submission. ``ceiling``: the best that the noise in the labels allows."""
MOST = 20
_KEY = re.compile(r"[a-z][a-z0-9_]{0,31}")
Bounds = dict[str, tuple[float, float | None]]
"""Smallest and largest value by key; None without a largest."""
_KEYS = {"key", "kind", "title", "meaning", "columns", "targets"}


@dataclass(frozen=True)
class Landmark:
    """Scores of one method."""

    key: str
    """Short name, such as ``constant``."""
    kind: str
    """One of `KINDS`."""
    title: str
    """Display name, at most 40 characters."""
    meaning: str
    columns: dict[str, float]
    """Score columns by key, without those that do not apply to the method."""
    targets: dict[str, dict[str, float]]
    """Metrics (score.metrics.METRICS) by target and name, without those that do not apply."""


@dataclass(frozen=True)
class Landmarks:
    """All landmarks of a phase."""

    data_sha256: str = ""
    """Hash of the data and settings that they were computed from; empty without landmarks."""
    items: tuple[Landmark, ...] = ()
    """Roughly from worst to best: constant, shortcuts, solutions, ceiling."""

    def of_kind(self, *kinds: str) -> tuple[Landmark, ...]:
        """Return the landmarks of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)

    def coarse(self, settings: Settings) -> "Landmarks":
        """Keep what participants of a closed phase may see: the constant and solutions, rounded like intervals."""
        places = {column.key: spread_decimals(column, open_=False) for column in columns(settings)}

        def rough(item: Landmark) -> Landmark:
            numbers = {key: round(value, places[key]) for key, value in item.columns.items()}
            return replace(item, columns=numbers, targets={})

        return replace(self, items=tuple(map(rough, self.of_kind("constant", "solution"))))


def read_landmarks(folder: Path, settings: Settings) -> Landmarks:
    """Read the file that the settings name.

    Without the file, a report lacks landmarks, but runs are still scored; `bundle check` reports it.

    Raises OrganiserError with every problem of the file at once.
    """
    if settings.landmarks is None or not (folder / settings.landmarks).exists():
        return Landmarks()
    file = FileReader(settings.landmarks, "landmarks_broken")
    root = file.json(folder / settings.landmarks, FORMAT_VERSION)
    digest, entries = root.get("data_sha256"), root.get("landmarks")
    if root and not is_sha256(digest):
        file.wrong("data_sha256", "no hash", "64 hexadecimal digits")
    items = []
    if isinstance(entries, list) and len(entries) <= MOST:
        items = [
            item
            for number, entry in enumerate(entries, 1)
            if (item := _item(entry, f"landmark {number}", settings, file))
        ]
        if len({item.key for item in items}) != len(items):
            file.wrong("landmarks", "a duplicate key", "every key once")
    elif root:
        file.wrong("landmarks", "a different structure", f"a list of at most {MOST} landmarks")
    file.finish("The landmarks have mistakes.")
    return Landmarks(str(digest), tuple(items))


def _item(entry: object, where: str, settings: Settings, file: FileReader) -> Landmark | None:
    if not isinstance(entry, dict) or set(entry) != _KEYS:
        file.wrong(where, "a different structure", ", ".join(sorted(_KEYS)))
        return None
    before = len(file.problems)
    if not isinstance(entry["key"], str) or not _KEY.fullmatch(entry["key"]):
        file.wrong(f"{where}, key", "an invalid name", "lower-case letters, digits and underscores, a letter first")
    if entry["kind"] not in KINDS:
        file.wrong(f"{where}, kind", "an unknown kind", ", ".join(KINDS))
    for key, longest in (("title", 40), ("meaning", 200)):
        text = entry[key]
        if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
            file.wrong(f"{where}, {key}", "an invalid text", f"1 to {longest} printable characters")
    bounds = {column.key: (column.minimum, column.maximum) for column in columns(settings)}
    numbers = _numbers(entry["columns"], bounds, f"{where}, columns", file)
    targets = entry["targets"]
    if not isinstance(targets, dict) or not targets.keys() <= set(settings.names):
        file.wrong(f"{where}, targets", "a different structure", "names of targets: " + ", ".join(settings.names))
        return None
    metrics: Bounds = dict.fromkeys(METRICS, (-1e12, 1.0))
    by_target = {name: _numbers(values, metrics, f"{where}, {name}", file) for name, values in targets.items()}
    if len(file.problems) > before:
        return None
    return Landmark(entry["key"], entry["kind"], entry["title"], entry["meaning"], numbers, by_target)


def _numbers(values: object, bounds: Bounds, where: str, file: FileReader) -> dict[str, float]:
    """Read finite numbers inside their bounds; unknown keys are problems."""
    if not isinstance(values, dict) or not values.keys() <= bounds.keys():
        file.wrong(where, "a different structure", "numbers by key: " + ", ".join(bounds))
        return {}
    result = {}
    for key, value in values.items():
        low, high = bounds[key]
        number = finite_number(value, low, math.inf if high is None else high)
        if number is None:
            expected = f"a number from {low:g}" + ("" if high is None else f" to {high:g}")
            file.wrong(f"{where}, {key}", "an invalid value", expected)
        else:
            result[key] = number
    return result


COLUMNS = ["clip_id", "file", "time_s", "sha256"]
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.jpg")
_LARGEST_PICTURE = 64 * 2**10


@dataclass(frozen=True)
class KeyFrame:
    """One listed picture."""

    file: str
    """Path, relative to the folder of the list."""
    time_s: float
    """Moment of the clip that it shows, seconds, >= 0."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True)
class KeyFrames:
    """The pictures of a phase; each is read on demand."""

    folder: Path = Path()
    """The reference data."""
    listed: Mapping[str, KeyFrame] = field(default_factory=dict)
    """By clip id."""
    problems: tuple[Problem, ...] = ()
    """Mistakes of the list; no message contains a clip id."""

    def read(self, clip_id: str) -> tuple[bytes, float] | None:
        """Return a clip's picture and its moment; None without one, or if the file differs from the list.

        The picture has at most 64 KiB; it is not checked to be a JPEG.
        """
        frame = self.listed.get(clip_id)
        if frame is None or not is_regular(self.folder, frame.file):
            return None
        with (self.folder / frame.file).open("rb") as stream:
            data = stream.read(_LARGEST_PICTURE + 1)
        if len(data) > _LARGEST_PICTURE or hashlib.sha256(data).hexdigest() != frame.sha256:
            return None
        return data, frame.time_s


def read_key_frames(folder: Path, name: str | None, clip_ids: Iterable[str]) -> KeyFrames:
    """Read the list of key frames.

    `name`: name of the list from the settings; None if the phase has none. `clip_ids`: clips of the reference; rows of
    other clips are left out.
    """
    if name is None:
        return KeyFrames()
    file = FileReader(name, "key_frames_broken")
    rows = file.table(folder / name)
    if not file.problems and (not rows or rows[0][1] != COLUMNS):
        file.wrong("", "a wrong header", ",".join(COLUMNS))
    listed: dict[str, KeyFrame] = {}
    wanted = set(clip_ids)
    for line, cells in () if file.problems else rows[1:]:
        frame = _frame(cells)
        if frame and cells[0] in wanted - listed.keys():
            listed[cells[0]] = frame
        elif not file.full:
            file.wrong(
                f"line {line}", "an invalid row", "a clip of the reference data, once, with file, seconds and SHA-256"
            )
    if wanted - listed.keys() and not file.problems:
        found = f"{len(wanted - listed.keys())} clips without a picture"
        file.wrong("", found, "one for every clip of the reference")
    return KeyFrames(folder, listed, tuple(file.problems))


def _frame(cells: list[str]) -> KeyFrame | None:
    if len(cells) != len(COLUMNS) or not _FILE.fullmatch(cells[1]) or not is_sha256(cells[3]):
        return None
    try:
        time_s = finite_number(float(cells[2]), low=0)
    except ValueError:
        return None
    return None if time_s is None else KeyFrame(cells[1], time_s, cells[3])
