"""Evidence that people marked in clips of First Impressions V2, from MM-OCEAN's annotations.

MM-OCEAN (github.com/kkkcx/MM-OCEAN, CC BY-NC-SA 4.0) holds observations, each with a time and boxes, and for each
trait a rationale that cites some of them by their times. Cited observations are somebody's reasons, so they are kept;
uncited ones describe the clip but explain nothing.

Rationales for neuroticism are left out. They argue for the scores of First Impressions, where high means calm, but were
written as if high meant nervous, so their reasons support the opposite.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_tools.console import Progress
from bundle_tools.own_clips.files import read, scan
from bundle_tools.own_clips.problems import Problems

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
    """Start in seconds."""
    end_s: float
    """End in seconds, > start."""
    box: Box | None
    """Place in the frame; None for a time alone."""


def read_annotations(
    source: Path, problems: Problems, progress: Progress | None = None
) -> dict[str, tuple[Point, ...]]:
    """Read MM-OCEAN's annotations.

    `source`: a JSON file, or a folder or archive of them. Returns evidence cited by the rationales, by clip name; empty
    for a clip whose rationales cite nothing.
    """
    places = [place for place in scan(source, problems=problems) if place.name.endswith(".json")]
    points: dict[str, tuple[Point, ...]] = {}
    for done, (place, content) in enumerate(read(places), 1):
        try:
            record = None if isinstance(content, str) else json.loads(content)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and "observations" in record:
            _add(record, str(place), points, problems)
        elif place.name.endswith(".mp4.json") or len(places) == 1:
            problems.add("annotations that cannot be read", str(place), fix=_AS_IT_IS)
        if progress is not None:
            progress(done, len(places))
    return points


def _add(record: dict[str, Any], where: str, points: dict[str, tuple[Point, ...]], problems: Problems) -> None:
    name = record.get("video_id")
    try:
        seen = [point for one in record["observations"] for point in _seen(one)]
        rationales = [
            str(one["rationale"])
            for one in record.get("personality_analyses", ())
            if str(one["trait"]).lower() != LEFT_OUT
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
            one
            for one in seen
            if abs(one.start_s - start) <= NEAR_S and (end is None or abs(one.end_s - end) <= NEAR_S)
        ]
        yield from fitting
        if not fitting and end is not None and end > start:
            yield Point(start, end, None)


def _seen(one: Mapping[str, Any]) -> list[Point]:
    """Return an observation as one point per box, or as a time alone."""
    start, end = float(one["start_time"]), float(one["end_time"])
    if not 0 <= start < end < float("inf"):
        raise ValueError
    boxes = [box for given in one.get("bboxes") or () if (box := _box(given)) is not None]
    return [Point(start, end, box) for box in boxes or (None,)]


def _box(given: Mapping[str, Any]) -> Box | None:
    """Convert a corner, a width and a height to four edges inside the frame; None if nothing is inside."""
    x, y, width, height = (float(given[key]) for key in ("x", "y", "w", "h"))
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
