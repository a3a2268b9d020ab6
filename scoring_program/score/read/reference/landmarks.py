"""Landmarks: what simple or known methods reach on the same clips, so that a score has a place.

They are computed by the organiser's tools and lie beside the labels as ``landmarks.json``. Nothing is scored by them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from score.columns import columns, spread_decimals
from score.errors import OrganiserError, Problem
from score.measure.metrics import METRICS
from score.read.strict_json import StrictJsonError, finite_number, parse_object
from score.settings import Settings

FORMAT_VERSION = 1
KINDS = ("constant", "shortcut", "solution", "ceiling")
"""``constant``: the training mean for every clip. ``shortcut``: no clip was watched. ``solution``: an example
submission. ``ceiling``: as good as the labels allow."""
MOST = 20
_LARGEST_FILE = 2**20
_KEY = re.compile(r"[a-z][a-z0-9_]{0,31}")
_KEYS = {"key", "kind", "title", "meaning", "columns", "targets"}
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Landmark:
    """What one method reaches."""

    key: str
    """Short name, such as ``constant``."""
    kind: str
    """One of `KINDS`."""
    title: str
    """How people read it, at most 40 characters."""
    meaning: str
    """One sentence for participants."""
    columns: dict[str, float]
    """Score columns by key; those that mean nothing for the method are missing."""
    targets: dict[str, dict[str, float]]
    """Metrics of score.measure.metrics.METRICS by target and name; likewise."""


@dataclass(frozen=True)
class Landmarks:
    """All landmarks of a phase."""

    data_sha256: str
    """Hash of the data and settings that they were computed from; empty without landmarks."""
    items: tuple[Landmark, ...]
    """Worst first, as far as that is known: constant, shortcuts, solutions, ceiling."""

    def of_kind(self, *kinds: str) -> tuple[Landmark, ...]:
        """Give the landmarks of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)

    def coarse(self, settings: Settings) -> Landmarks:
        """Keep what participants of a closed phase may see: the constant and solutions, as rough as an interval."""
        places = {column.key: spread_decimals(column, open_=False) for column in columns(settings)}
        return Landmarks(
            self.data_sha256,
            tuple(
                replace(
                    item,
                    columns={key: round(value, places[key]) for key, value in item.columns.items()},
                    targets={},
                )
                for item in self.of_kind("constant", "solution")
            ),
        )


NO_LANDMARKS = Landmarks("", ())


def read_landmarks(folder: Path, settings: Settings) -> Landmarks:
    """Read the file that the settings name.

    A file that is missing costs a report its landmarks, not a run its scores; `bundle check` tells of it.

    Raises
    ------
    OrganiserError
        With every problem of the file at once.
    """
    if settings.landmarks is None or not (folder / settings.landmarks).exists():
        return NO_LANDMARKS
    reader = _Reader(settings.landmarks, settings)
    landmarks = reader.read(folder / settings.landmarks)
    if reader.problems:
        raise OrganiserError("The landmarks have mistakes.", reader.problems)
    return landmarks


class _Reader:
    """Reads one file and collects its problems."""

    def __init__(self, file: str, settings: Settings) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._bounds = {column.key: (column.minimum, column.maximum) for column in columns(settings)}
        self._names = settings.names

    def read(self, path: Path) -> Landmarks:
        try:
            with path.open("rb") as stream:
                root = parse_object(stream.read(_LARGEST_FILE + 1), _LARGEST_FILE)
        except OSError as error:
            self._add("", type(error).__name__, "a readable file beside task.yaml")
            return NO_LANDMARKS
        except StrictJsonError as error:
            self._add("", str(error), "one JSON object")
            return NO_LANDMARKS
        if root.get("format_version") != FORMAT_VERSION:
            self._add("format_version", "another version", str(FORMAT_VERSION))
        digest = root.get("data_sha256")
        if not isinstance(digest, str) or not _HASH.fullmatch(digest):
            self._add("data_sha256", "no hash", "64 hexadecimal digits")
        given = root.get("landmarks")
        if not isinstance(given, list) or len(given) > MOST:
            self._add("landmarks", "another structure", f"a list of at most {MOST} landmarks")
            return NO_LANDMARKS
        items = [item for number, one in enumerate(given, 1) if (item := self._item(one, f"landmark {number}"))]
        keys = [item.key for item in items]
        if len(set(keys)) != len(keys):
            self._add("landmarks", "a key that stands twice", "every key once")
        return Landmarks(str(digest), tuple(items))

    def _add(self, where: str, found: str, expected: str) -> None:
        place = f"{self.file}, {where}" if where else self.file
        fix = "compute them again: bundle data baselines"
        self.problems.append(Problem("landmarks_broken", "data", place, found, expected, fix))

    def _item(self, given: Any, where: str) -> Landmark | None:  # noqa: ANN401 - whatever the file holds
        if not isinstance(given, dict) or set(given) != _KEYS:
            self._add(where, "another structure", ", ".join(sorted(_KEYS)))
            return None
        before = len(self.problems)
        if not isinstance(given["key"], str) or not _KEY.fullmatch(given["key"]):
            self._add(f"{where}, key", "another name", "lower-case letters, digits and underscores, a letter first")
        if given["kind"] not in KINDS:
            self._add(f"{where}, kind", "another kind", ", ".join(KINDS))
        for key, longest in (("title", 40), ("meaning", 200)):
            text = given[key]
            if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
                self._add(f"{where}, {key}", "another text", f"1 to {longest} printable characters")
        numbers = self._numbers(given["columns"], self._bounds, f"{where}, columns")
        targets = given["targets"]
        if not isinstance(targets, dict) or not targets.keys() <= set(self._names):
            self._add(f"{where}, targets", "another structure", "names of targets: " + ", ".join(self._names))
            return None
        metrics: dict[str, tuple[float, float | None]] = dict.fromkeys(METRICS, (-1e12, 1.0))
        by_target = {name: self._numbers(one, metrics, f"{where}, {name}") for name, one in targets.items()}
        if len(self.problems) > before:
            return None
        return Landmark(given["key"], given["kind"], given["title"], given["meaning"], numbers, by_target)

    def _numbers(self, given: object, bounds: dict[str, tuple[float, float | None]], where: str) -> dict[str, float]:
        """Read finite numbers inside their bounds; a key that is not known is a problem."""
        if not isinstance(given, dict) or not given.keys() <= bounds.keys():
            self._add(where, "another structure", "numbers by key: " + ", ".join(bounds))
            return {}
        result = {}
        for key, value in given.items():
            number, (low, high) = finite_number(value), bounds[key]
            if number is None or number < low or (high is not None and number > high):
                expected = f"a number from {low:g}" + ("" if high is None else f" to {high:g}")
                self._add(f"{where}, {key}", "another value", expected)
            else:
                result[key] = number
        return result
