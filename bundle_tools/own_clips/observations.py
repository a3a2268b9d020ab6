"""Evidence that people marked in First Impressions clips (MM-OCEAN), for the reference data."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.atomic import write_text
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.files import Problems, read, scan
from bundle_tools.own_clips.writing import SUMS
from bundle_tools.phase_data.files import by_clip

SOURCE, LICENCE = "MM-OCEAN (github.com/kkkcx/MM-OCEAN)", "CC BY-NC-SA 4.0"
LEFT_OUT = "neuroticism"
NEAR_S = 0.1
"""Rationales round times to a tenth of a second."""
WHOLE = 0.9
"""A time span that covers this share of the clip marks no particular time."""
_CITED = re.compile(r"\[\s*(\d+(?:\.\d+)?)\s*s?\s*(?:[-\u2013]\s*(\d+(?:\.\d+)?)\s*s?\s*)?\]")
_AS_IT_IS = "Expected an unchanged file of MM-OCEAN's data/test. Download it again."

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in shares of the frame."""


@dataclass(frozen=True)
class Point:
    """One piece of evidence that somebody marked, as in observations.json."""

    start_s: float
    end_s: float
    box: Box | None
    """Place in the frame; None for a time alone."""


def read_annotations(
    source: Path, problems: Problems, progress: Progress | None = None
) -> dict[str, tuple[Point, ...]]:
    """Read MM-OCEAN's annotations.

    `source`: a JSON file, or a folder or archive of them. Returns evidence cited by the rationales, by clip name; empty
    for a clip whose rationales cite nothing.
    """
    places = [file for file in scan(source, problems=problems) if file.name.endswith(".json")]
    points: dict[str, tuple[Point, ...]] = {}
    for done, (file, content) in enumerate(read(places), 1):
        try:
            record = None if isinstance(content, str) else json.loads(content)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and "observations" in record:
            _add(record, str(file), points, problems)
        elif file.name.endswith(".mp4.json") or len(places) == 1:
            problems.add("annotations that cannot be read", str(file), fix=_AS_IT_IS)
        if progress is not None:
            progress(done, len(places))
    return points


def _add(record: dict[str, Any], where: str, points: dict[str, tuple[Point, ...]], problems: Problems) -> None:
    name = record.get("video_id")
    try:
        seen = [point for observation in record["observations"] for point in _seen(observation)]
        rationales = [
            str(analysis["rationale"])
            for analysis in record.get("personality_analyses", ())
            if str(analysis["trait"]).lower() != LEFT_OUT
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        problems.add("annotations in another format", where, fix=_AS_IT_IS)
        return
    if not isinstance(name, str) or name in points:
        what = "annotations without a clip name, or for a clip that already has some"
        problems.add(what, where, fix=_AS_IT_IS)
        return
    points[name] = tuple(dict.fromkeys(point for text in rationales for point in cited(text, seen)))


def cited(rationale: str, seen: Sequence[Point]) -> Iterator[Point]:
    """Yield what a rationale cites: ``[3.4s-6.8s]`` is a time span, ``[2.2s]`` the observation that begins then.

    A cited span that matches an observation gets its boxes; one that matches none is a time alone.
    """
    for first, last in _CITED.findall(rationale):
        start = float(first)
        end = float(last) if last else None
        fitting = [
            point
            for point in seen
            if abs(point.start_s - start) <= NEAR_S and (end is None or abs(point.end_s - end) <= NEAR_S)
        ]
        yield from fitting
        if not fitting and end is not None and end > start:
            yield Point(start, end, None)


def _seen(observation: Mapping[str, Any]) -> list[Point]:
    """Return an observation as one point per box, or as a time alone."""
    start, end = float(observation["start_time"]), float(observation["end_time"])
    if not 0 <= start < end < float("inf"):
        raise ValueError
    boxes = [box for entry in observation.get("bboxes") or () if (box := _box(entry)) is not None]
    return [Point(start, end, box) for box in boxes or (None,)]


def _box(entry: Mapping[str, Any]) -> Box | None:
    """Convert a corner, a width and a height to four edges inside the frame; None if nothing is inside."""
    x, y, width, height = (float(entry[key]) for key in ("x", "y", "w", "h"))
    left, top, right, bottom = (round(min(max(edge, 0.0), 1.0), 4) for edge in (x, y, x + width, y + height))
    return (left, top, right, bottom) if left < right and top < bottom else None


def within(points: Sequence[Point], duration_s: float) -> tuple[Point, ...]:
    """Clip points to the length of the video; drop those outside, and times without a box that span all of it."""
    cut = [Point(point.start_s, min(point.end_s, round(duration_s, 3)), point.box) for point in points]
    return tuple(
        point
        for point in cut
        if point.start_s < point.end_s and (point.box is not None or point.end_s - point.start_s < WHOLE * duration_s)
    )


FILE = "observations.json"


@dataclass(frozen=True)
class Annotated:
    """The observations added to one phase: marked evidence by opaque name of the clip."""

    phase: str
    clips: int
    points: Mapping[str, Sequence[Point]]


def annotate(folder: Path, names: Path, source: Path, progress: Progress | None = None) -> list[Annotated]:
    """Write ``observations.json`` for every phase and name it in its settings.

    `folder`: holds ``reference_data/<phase>/``. `names`: ``private/clips.csv`` of the organiser's folder, with true and
    opaque names. `source`: MM-OCEAN's annotations.

    Raises BundleError with everything to correct; nothing is written then.
    """
    problems = Problems()
    phases = sorted(path.parent for path in folder.glob("reference_data/*/task.yaml"))
    if not phases:
        raise BundleError(f"--out {folder}: expected reference_data/<phase>/task.yaml in it; found none.")
    known = _names(names)
    if not source.exists():
        raise BundleError(
            f"--source {source}: expected MM-OCEAN's data/test, a folder or archive of it; found nothing."
        )
    points = read_annotations(source, problems, progress)
    if not problems and not points.keys() & {row["name"] for row in known}:
        fix = f"Is {names} the right file?"
        problems.add("annotations of clips that are not in this set", str(source), fix=fix)
    problems.stop(str(source))
    done = []
    for phase in phases:
        own = [row for row in known if row["part"] == phase.name]
        points_by_clip = {
            row["clip_id"]: within(points[row["name"]], float(row["duration_s"]))
            for row in own
            if row["name"] in points
        }
        _write(folder, phase, points_by_clip)
        done.append(Annotated(phase.name, len(own), points_by_clip))
    return done


def _names(path: Path) -> list[dict[str, str]]:
    """Read the table of true names."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            known = [row for row in csv.DictReader(file) if row["name"] and row["part"] and float(row["duration_s"])]
    except (OSError, KeyError, ValueError, TypeError):
        known = []
    if not known:
        fix = "Name private/clips.csv, which `bundle data first-impressions` wrote, with --names."
        raise BundleError(f"{path}: expected the table of true names; found none. {fix}")
    return known


def _write(folder: Path, phase: Path, points: Mapping[str, Sequence[Point]]) -> None:
    head = {"format_version": 1, "source": SOURCE, "licence": LICENCE}
    entries = {clip: [vars(point) for point in of] for clip, of in sorted(points.items())}
    _replace(folder, phase / FILE, by_clip(head, entries))
    settings = (phase / "task.yaml").read_text("utf-8")
    if "observations" not in yaml.safe_load(settings):
        _replace(folder, phase / "task.yaml", f"{settings.rstrip()}\nobservations: {FILE}\n")


def _replace(folder: Path, path: Path, text: str) -> None:
    """Replace a file atomically, and its hash if the folder lists hashes."""
    write_text(path, text)
    sums = folder / SUMS
    if sums.exists():
        lines = (line.partition("  ") for line in sums.read_text("utf-8").splitlines())
        listed = {name: digest for digest, _, name in lines}
        listed[path.relative_to(folder).as_posix()] = hashlib.sha256(text.encode()).hexdigest()
        sums.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(listed.items())), encoding="utf-8")


def summary(done: Sequence[Annotated]) -> Iterator[str]:
    """Yield the lines printed at the end."""
    for phase in done:
        points, observed = sum(map(len, phase.points.values())), sum(map(bool, phase.points.values()))
        yield f"{phase.phase}: {points} observations in {observed} of {phase.clips} clips."
    yield f"From {SOURCE}, {LICENCE}: credit it with every result, no commercial use, share alike."
    yield "Rationales for neuroticism are left out: they read high as nervous, but it means calm."
