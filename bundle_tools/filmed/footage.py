"""A filmed clip as exchanges need it: its face in every frame, its shots, its joins, and whether it is suited."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels, Sound, moments, open_clip, pictures, sound_track
from bundle_tools.filmed import face
from bundle_tools.filmed.compose import Cut, box_around
from bundle_tools.filmed.face import HULL, RING, STABLE, Array
from bundle_tools.filmed.moments import Flags
from bundle_tools.filmed.track import LANDMARKS, LEFT_EYE, RIGHT_EYE, Points, Tracker

MISSING = 0.02
"""Largest share of frames without a face."""
SMALLEST = 40
"""Least distance of the eyes' outer corners, pixels."""
YAW, YAW_SHARE = 35, 0.1
"""Degrees from the camera, and largest share of frames beyond."""
SECOND, SECOND_SHARE = 0.5, 0.1
"""Size of a second face that matters, as a share of the first, and largest share of looks that find one."""
LOOK_S = 1.0
"""How often other faces are looked for, seconds."""
MOST_S = 120.0
"""Longest clip, seconds: the faces of all frames lie on the disk, 20 MB a second at 720 rows."""
SHORTEST_S, LONGEST_S = 8.0, 40.0
"""Shots shorter than this stay as they are; in longer ones moments come from the same part; seconds."""
CUT = 24.0
"""Mean difference of two successive pictures, of 255, from which the camera was switched."""
MARGIN = 0.45
"""Around a face that is cut out, in units."""
SPAN_S, SPANS = 2.5, (3, 6)
"""Usual length of a span between joins, seconds; fewest and most spans."""
MOVED_S = 0.5
"""By how much a join moves into a pause of speech at most, seconds."""
SOUND_RATE = 8_000


class Unsuited(Exception):
    """A clip without exchanges: it keeps its original. The text says why."""


class Cuts:
    """Faces cut out of all frames, in a temporary file: those of a large clip take a gigabyte."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this
        self._index: list[tuple[int, tuple[int, ...], int, int]] = []

    def append(self, picture: Pixels, left: int, top: int) -> None:
        """Add the next frame's; `left` and `top`: where it lay in the frame, pixels."""
        self._index.append((self._file.tell(), picture.shape, left, top))
        self._file.write(picture.tobytes())

    def __getitem__(self, frame: int) -> Cut:
        start, shape, left, top = self._index[frame]
        self._file.flush()
        content = os.pread(self._file.fileno(), int(np.prod(shape)), start)
        return Cut(np.frombuffer(content, np.uint8).reshape(shape), left, top)


@dataclass(frozen=True)
class Shot:
    """Successive frames from one camera, long enough to exchange moments."""

    start: int
    """Its first frame in the clip."""
    points: Points
    """Smoothed landmarks, (n, 468, 2)."""
    poses: Array
    """See `face.pose`, smoothed."""
    expressions: dict[str, Array]
    """See `face.expressions`."""
    own: Flags
    """Frames that show the clip's own part in both versions: without a face, or at an end of a long shot; (n,)."""

    @property
    def stop(self) -> int:
        """The frame after its last one."""
        return self.start + len(self.points)


@dataclass(frozen=True)
class Footage:
    """A clip that is suited."""

    times: Array
    """When each frame is shown, seconds, (n,)."""
    size: tuple[int, int]
    """Width and height, pixels."""
    shots: list[Shot]
    """Those of `SHORTEST_S` or more; other frames stay as they are."""
    joins: list[int]
    """Frames at which spans of time meet, ascending."""
    cuts: Cuts

    @property
    def fps(self) -> float:
        """Mean frames per second."""
        return rate_of(self.times)


def rate_of(times: Array) -> float:
    """Return the mean number of frames per second."""
    return float((len(times) - 1) / max(times[-1] - times[0], 1e-6))


def read_footage(content: bytes, new_tracker: Callable[[], Tracker]) -> Footage:
    """Read a clip and follow its face.

    `content`: of the file. `new_tracker`: makes what finds the face, anew after each cut.
    Raises Unsuited when exchanges cannot be made.
    """
    times = np.array(moments(content))
    count = len(times)
    if count < 2 or times[-1] - times[0] < SHORTEST_S - 0.5:
        raise Unsuited(f"{times[-1] - times[0] if count else 0:.1f} s long: expected {SHORTEST_S:.0f} s or more")
    if times[-1] - times[0] > MOST_S:
        raise Unsuited(f"{times[-1] - times[0]:.0f} s long: expected {MOST_S:.0f} s or less")
    tracker, cuts, fps = new_tracker(), Cuts(), rate_of(times)
    points = np.full((count, LANDMARKS, 3), np.nan, np.float32)
    glances, changes = np.zeros(count), np.zeros(count)
    looks = crowded = 0
    size, last = (0, 0), None
    named = list({*STABLE, *(name for names in (*HULL.values(), *RING.values()) for name in names)})
    for number, picture in enumerate(pictures(content, range(count), "bgr24")):
        height, width = picture.shape[:2]
        size = width, height
        small = cv2.resize(picture, (32, 18), interpolation=cv2.INTER_AREA).astype(np.float32)
        changes[number] = 0 if last is None else np.abs(small - last).mean()
        last = small
        if changes[number] > CUT:
            tracker = new_tracker()
        if number % max(1, round(LOOK_S * fps)) == 0:
            sides = [other.side for other in tracker.faces(picture)]
            looks, crowded = looks + 1, crowded + (len(sides) > 1 and sides[1] > SECOND * sides[0])
        landmarks = tracker.landmarks(picture)
        if landmarks is None:
            cuts.append(picture[:2, :2], 0, 0)
            continue
        points[number], glances[number] = landmarks, face.glance(picture, landmarks)
        box = box_around(landmarks[named, :2], MARGIN * face.unit_of(landmarks), width, height)
        cuts.append(box.of(picture), box.left, box.top)
    seen = np.isfinite(points[:, 0, 0])
    _check(points, seen, crowded / max(1, looks))
    joins = _joins(times, _loudness(content, times))
    return Footage(times, size, _shots(points, seen, glances, changes, fps), joins, cuts)


def _check(points: Points, seen: Flags, crowded: float) -> None:
    """Raise Unsuited with all that is wrong."""
    wrong = []
    if (missing := 1 - float(seen.mean())) > MISSING:
        wrong.append(f"no face in {missing:.0%} of the frames: expected at most {MISSING:.0%}")
    if seen.any():
        there = points[seen]
        eyes = np.linalg.norm(there[:, RIGHT_EYE, :2] - there[:, LEFT_EYE, :2], axis=1)
        if (apart := float(np.median(eyes))) < SMALLEST:
            wrong.append(f"eyes {apart:.0f} pixels apart: expected {SMALLEST} or more")
        if (away := float((face.yaw_to_camera(there) > YAW).mean())) > YAW_SHARE:
            wrong.append(f"turned by more than {YAW} degrees in {away:.0%} of the frames: expected {YAW_SHARE:.0%}")
    if crowded > SECOND_SHARE:
        wrong.append("a second face of more than half the size")
    if wrong:
        raise Unsuited("; ".join(wrong))


def _shots(points: Points, seen: Flags, glances: Array, changes: Array, fps: float) -> list[Shot]:
    """Return the shots that are long enough; very long ones are divided."""
    edges = [0, *np.flatnonzero(changes > CUT).tolist(), len(points)]
    shots = []
    for start, stop in pairwise(edges):
        # Half a second of tolerance: a clip of 8 s often lacks a frame or two.
        if stop - start < (SHORTEST_S - 0.5) * fps or not seen[start:stop].any():
            continue
        pieces = int(np.ceil((stop - start) / (LONGEST_S * fps)))
        bounds = np.linspace(start, stop, pieces + 1).round().astype(int)
        for first, end in pairwise(bounds):
            there = seen[first:end].copy()
            if not there.any():
                continue
            whole = _filled(points[first:end], there)
            own = ~there
            own[[0, -1]] |= [first > start, end < stop]
            flat = face.smoothed(whole[..., :2])
            poses = face.smoothed(face.pose(whole)).astype(np.float64)
            shots.append(Shot(int(first), flat, poses, face.expressions(flat, glances[first:end]), own))
    if not shots:
        raise Unsuited(f"no shot of {SHORTEST_S:.0f} s or more between cuts")
    return shots


def _filled(points: Points, seen: Flags) -> Points:
    """Return landmarks with those of missing frames interpolated."""
    if seen.all():
        return points
    numbers, there = np.arange(len(points)), np.flatnonzero(seen)
    flat = points.reshape(len(points), -1)
    columns = [np.interp(numbers, there, flat[there, column]) for column in range(flat.shape[1])]
    return np.asarray(np.column_stack(columns).reshape(points.shape), np.float32)


def _joins(times: Array, loudness: Array) -> list[int]:
    """Return the frames at which spans of time meet: evenly apart, moved to the quietest frame nearby."""
    count, duration_s = len(times), times[-1] - times[0]
    spans = int(np.clip(round(duration_s / SPAN_S), *SPANS))
    joins = []
    for number in range(1, spans):
        even = times[0] + duration_s * number / spans
        near = np.flatnonzero(np.abs(times - even) <= min(MOVED_S, duration_s / spans / 4))
        middle = int(np.abs(times - even).argmin())
        quietest = near[np.lexsort((np.abs(near - middle), loudness[near].round(3)))[0]] if len(near) else middle
        joins.append(int(np.clip(quietest, 1, count - 1)))
    return joins


def _loudness(content: bytes, times: Array) -> Array:
    """Return the loudness of the sound at each frame, smoothed, as a share of the loudest; 0 without sound."""
    pieces: list[NDArray[np.float32]] = []
    with open_clip(content) as source:
        if (track := sound_track(source)) is not None:
            sound = Sound(track, SOUND_RATE, Fraction(0))
            for frame in chain(source.decode(track), [None]):
                pieces += [np.asarray(piece.to_ndarray(), np.float32).ravel() for piece in sound.put(frame)]
    samples = np.concatenate(pieces) if pieces else np.zeros(1, np.float32)
    edges = np.clip(((times - times[0]) * SOUND_RATE).round().astype(int), 0, len(samples) - 1)
    power = np.add.reduceat(samples.astype(np.float64) ** 2, edges) / np.maximum(np.diff([*edges, len(samples)]), 1)
    level = face.smoothed(np.sqrt(power)).astype(np.float64)
    return np.asarray(level / max(float(level.max()), 1e-9))
