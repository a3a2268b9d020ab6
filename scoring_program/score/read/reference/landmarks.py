"""Landmarks: scores of baselines and known solutions on the same clips, for comparison.

The organiser's tools compute them into ``landmarks.json`` beside the labels. No score depends on them.
"""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

from score.columns import columns, spread_decimals
from score.measure.metrics import METRICS
from score.read.file_reader import FileReader
from score.read.strict_json import finite_number, is_sha256
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
    """Metrics (score.measure.metrics.METRICS) by target and name, without those that do not apply."""


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


NO_LANDMARKS = Landmarks()


def read_landmarks(folder: Path, settings: Settings) -> Landmarks:
    """Read the file that the settings name.

    Without the file, a report lacks landmarks, but runs are still scored; `bundle check` reports it.

    Raises OrganiserError with every problem of the file at once.
    """
    if settings.landmarks is None or not (folder / settings.landmarks).exists():
        return NO_LANDMARKS
    file = FileReader(settings.landmarks, "landmarks_broken")
    root = file.json(folder / settings.landmarks, FORMAT_VERSION)
    digest, given = root.get("data_sha256"), root.get("landmarks")
    if root and not is_sha256(digest):
        file.wrong("data_sha256", "no hash", "64 hexadecimal digits")
    items = []
    if isinstance(given, list) and len(given) <= MOST:
        items = [
            item for number, one in enumerate(given, 1) if (item := _item(one, f"landmark {number}", settings, file))
        ]
        if len({item.key for item in items}) != len(items):
            file.wrong("landmarks", "a duplicate key", "every key once")
    elif root:
        file.wrong("landmarks", "a different structure", f"a list of at most {MOST} landmarks")
    file.finish("The landmarks have mistakes.")
    return Landmarks(str(digest), tuple(items))


def _item(given: object, place: str, settings: Settings, file: FileReader) -> Landmark | None:
    if not isinstance(given, dict) or set(given) != _KEYS:
        file.wrong(place, "a different structure", ", ".join(sorted(_KEYS)))
        return None
    before = len(file.problems)
    if not isinstance(given["key"], str) or not _KEY.fullmatch(given["key"]):
        file.wrong(f"{place}, key", "an invalid name", "lower-case letters, digits and underscores, a letter first")
    if given["kind"] not in KINDS:
        file.wrong(f"{place}, kind", "an unknown kind", ", ".join(KINDS))
    for key, longest in (("title", 40), ("meaning", 200)):
        text = given[key]
        if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
            file.wrong(f"{place}, {key}", "an invalid text", f"1 to {longest} printable characters")
    bounds = {column.key: (column.minimum, column.maximum) for column in columns(settings)}
    numbers = _numbers(given["columns"], bounds, f"{place}, columns", file)
    targets = given["targets"]
    if not isinstance(targets, dict) or not targets.keys() <= set(settings.names):
        file.wrong(f"{place}, targets", "a different structure", "names of targets: " + ", ".join(settings.names))
        return None
    metrics: Bounds = dict.fromkeys(METRICS, (-1e12, 1.0))
    by_target = {name: _numbers(one, metrics, f"{place}, {name}", file) for name, one in targets.items()}
    if len(file.problems) > before:
        return None
    return Landmark(given["key"], given["kind"], given["title"], given["meaning"], numbers, by_target)


def _numbers(given: object, bounds: Bounds, place: str, file: FileReader) -> dict[str, float]:
    """Read finite numbers inside their bounds; unknown keys are problems."""
    if not isinstance(given, dict) or not given.keys() <= bounds.keys():
        file.wrong(place, "a different structure", "numbers by key: " + ", ".join(bounds))
        return {}
    result = {}
    for key, value in given.items():
        low, high = bounds[key]
        number = finite_number(value, low, math.inf if high is None else high)
        if number is None:
            expected = f"a number from {low:g}" + ("" if high is None else f" to {high:g}")
            file.wrong(f"{place}, {key}", "an invalid value", expected)
        else:
            result[key] = number
    return result
