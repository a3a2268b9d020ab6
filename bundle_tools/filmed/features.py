"""What a model could measure to tell an altered call from a plain one: detail, seams and motion of a part of a face.

A plain call shows A'. An altered one shows B in one part, or in all parts for one span of time. A third kind, whose
part is slightly out of focus, must be found by the same detectors: else they prove nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from bundle_tools.decoding import Pixels, pictures
from bundle_tools.filmed.compose import FEATHER, Box, Patcher, Picture, box_around
from bundle_tools.filmed.face import Array, grown
from bundle_tools.filmed.moments import Flags
from bundle_tools.filmed.versions import OUTLINE, Search, Versions

PLAIN, ALTERED, CONTROL = "plain", "altered", "control"
"""Kinds of calls."""
TIME = "time"
"""The intervention in all parts for one span; the others are named as their part."""
INSIDE, SEAM, OUTSIDE = (0.0, 0.86), (0.9, 1.3), (1.32, 1.7)
"""Rings of a part's outline, from one size of it to another, that are compared."""
SIDE = 64
"""Of the picture of a part in the face's own frame, pixels."""
WIDE = 0.85
"""Half the width of that picture, in widths of the part."""
MOST_FRAMES, MOST_ROWS = 300, 40
"""Most frames that are looked at, around the altered span, and most of them in full size."""
BLUR = 0.1
"""Side of the square over which the mean is taken where a part is out of focus, in units."""
BESIDE = 4
"""Frames beside an edge of the span that are looked at alone."""
BLOCK = 8
"""Side of an encoder's block, pixels."""
Ring = tuple[float, float]
_PAIRS = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (2, 2))
"""Pairs of levels whose frequencies side by side are counted; the others mirror them."""


@dataclass(frozen=True)
class Window:
    """The frames of a clip that are looked at."""

    start: int
    """First frame in the clip."""
    stop: int
    span: tuple[int, int]
    """Frames of the altered span, counted from `start`."""


def window_of(joins: list[int], search: Search) -> Window | None:
    """Return the frames around the middle span of a shot; None if it has none."""
    shot = search.shot
    edges = [max(shot.start, 0), *(join for join in joins if shot.start < join < shot.stop), shot.stop]
    spans = list(pairwise(edges))
    first, last = spans[len(spans) // 2]
    middle = (first + last) // 2
    start = max(shot.start, min(middle - MOST_FRAMES // 2, shot.stop - MOST_FRAMES))
    stop = min(shot.stop, start + MOST_FRAMES)
    span = max(first, start) - start, min(last, stop) - start
    return Window(start, stop, span) if span[1] - span[0] > 2 * BESIDE else None


def features(versions: Versions, joins: list[int], sham: bytes, other: bytes) -> dict[str, dict[str, list[float]]]:
    """Return what can be measured in each kind of call, by intervention.

    `joins`: frames at which spans meet. `sham` and `other`: the files of A' and B, as a model sees them.
    """
    longest = {part: max(versions.searches(part), key=lambda search: search.counted) for part in versions.parts}
    window = window_of(joins, longest[versions.parts[0]])
    if window is None:
        return {}
    views = {part: _View(search.patcher, window.start - search.shot.start) for part, search in longest.items()}
    wanted = range(window.start, window.stop)
    step = max(4, len(wanted) // MOST_ROWS)
    both = zip(pictures(sham, wanted, "bgr24"), pictures(other, wanted, "bgr24"), strict=True)
    for number, (first, second) in enumerate(both):
        for view in views.values():
            view.add(number, first, second, in_full=number % step == 0)
    found: dict[str, dict[str, list[float]]] = {}
    whole: dict[str, list[float]] = {PLAIN: [], ALTERED: []}
    for part, view in views.items():
        found[part] = {kind: view.vector((kind,), window.span) for kind in (PLAIN, ALTERED, CONTROL)}
        whole[PLAIN] += found[part][PLAIN]
        whole[ALTERED] += view.vector((PLAIN, ALTERED), window.span)
    found[TIME] = whole
    return found


class _View:
    """A part of successive frames, as three kinds of calls show it."""

    def __init__(self, patcher: Patcher, offset: int) -> None:
        """`offset`: the first frame in the shot of `patcher`."""
        self._patcher, self._offset = patcher, offset
        self._soft = patcher.mask(OUTLINE, FEATHER)
        hull = patcher.hull
        middle, half = hull.mean(0), float(np.ptp(hull, axis=0).max()) * WIDE
        scale = SIDE / 2 / half
        self._to_crop = np.array([[scale, 0, SIDE / 2 - middle[0] * scale], [0, scale, SIDE / 2 - middle[1] * scale]])
        corners = hull * scale + self._to_crop[:, 2]
        self.fixed = {ring: _ring(lambda size: grown(corners, size), ring, (SIDE, SIDE)) for ring in _RINGS}
        self.lower = self.fixed[OUTSIDE] & (np.arange(SIDE)[:, None] >= SIDE * 3 // 5)
        self._crops: dict[str, list[Picture]] = {PLAIN: [], ALTERED: [], CONTROL: []}
        self._rows: dict[str, list[tuple[Array, Array]]] = {PLAIN: [], ALTERED: [], CONTROL: []}
        self._numbers: list[int] = []

    def add(self, number: int, first: Pixels, second: Pixels, *, in_full: bool) -> None:
        """Look at the next frame of A' and of B; `in_full`: also at its own size."""
        frame = number + self._offset
        height, width = first.shape[:2]
        box = box_around(self._patcher.outline(frame, OUTSIDE[1]), 0, width, height)
        plain, share = box.of(first), self._patcher.in_frame(self._soft, frame, box)[..., None]
        blurred = cv2.blur(plain, (max(3, round(BLUR * self._patcher.unit)),) * 2)
        shown = {PLAIN: plain}
        for kind, other in ((ALTERED, box.of(second)), (CONTROL, blurred)):
            # Without a soft edge: a mean of two encodings has less noise, and detectors found that (0.66 to 0.70).
            shown[kind] = np.where(share > 0.5, other, plain)
        back = np.vstack([self._patcher.maps[frame], (0, 0, 1)])
        matrix = (np.vstack([self._to_crop, (0, 0, 1)]) @ np.linalg.inv(back))[:2]
        matrix[:, 2] += matrix[:, :2] @ (box.left, box.top)
        if in_full:
            self._numbers.append(number)
            rings = {r: _ring(lambda size: self._patcher.outline(frame, size), r, box.size, box) for r in _RINGS}
            x, y = (cv2.Sobel(share[..., 0], cv2.CV_32F, *order) for order in ((1, 0), (0, 1)))
            across = np.asarray(x, np.float32), np.asarray(y, np.float32)
        for kind, picture in shown.items():
            grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
            crop = cv2.warpAffine(grey, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR)
            self._crops[kind].append(crop.astype(np.float32))
            if in_full:
                self._rows[kind].append(_row(picture, rings, across, box.left))

    def vector(self, kinds: tuple[str, ...], span: tuple[int, int]) -> list[float]:
        """Return all numbers of one call: of one kind, or of two of which the second is shown in the span."""
        inside, usual = kinds[-1], kinds[0]

        def kind(number: int) -> str:
            return inside if span[0] <= number < span[1] else usual

        frames = [self._rows[kind(number)][at] for at, number in enumerate(self._numbers)]
        rows, pairs = (np.array(values) for values in zip(*frames, strict=True))
        crops = np.array([self._crops[kind(number)][number] for number in range(len(self._crops[PLAIN]))])
        steps = np.abs(np.diff(rows, axis=0)).mean(0)
        values = np.concatenate(
            [rows.mean(0), rows.std(0), steps, pairs.mean(0), _over_time(crops, self.fixed, self.lower, span)]
        )
        return np.nan_to_num(values, posinf=0, neginf=0).round(5).tolist()  # type: ignore[no-any-return]


_RINGS = (INSIDE, SEAM, OUTSIDE)


def _ring(outline: Callable[[float], Array], ring: Ring, size: tuple[int, int], box: Box | None = None) -> Flags:
    """Return which pixels lie between two sizes of an outline, (height, width)."""
    drawn = np.zeros(size[::-1], np.uint8)
    shift = (box.left, box.top) if box else (0, 0)
    for factor, value in ((ring[1], 1), (ring[0], 0)):
        if factor:
            cv2.fillPoly(drawn, [np.rint(outline(factor) - shift).astype(np.int32)], value)
    return drawn.view(np.bool_)


def _log(value: np.floating | float, least: float = 0.1) -> float:
    return float(np.log(value + least))


def _row(picture: Pixels, rings: dict[Ring, Flags], across: tuple[Picture, Picture], left: int) -> tuple[Array, Array]:
    """Return what one frame shows: detail, edges along the seam, colour, an encoder's blocks; and pairs of levels."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    lab = cv2.cvtColor(picture, cv2.COLOR_BGR2LAB).astype(np.float32)
    fine, coarse = (
        np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), deviation), np.float32) for deviation in (0.8, 2.0)
    )
    curved = np.asarray(cv2.Laplacian(grey, cv2.CV_32F, ksize=1), np.float32)
    inside, seam, outside = (rings[ring] for ring in _RINGS)
    detail = np.array(
        [
            [_log(fine[m].std(), 0.05), _log(coarse[m].std(), 0.05), _log(np.abs(curved[m]).mean(), 0.05),
             _log(np.median(np.abs(fine[m])), 0.02)]
            for m in (inside, seam, outside)
        ]
    )  # fmt: skip
    row = [*detail[0], *(detail[0] - detail[2]), *(detail[1] - detail[2]), *(detail[1] - detail[0])]
    steep_x, steep_y = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    length = np.hypot(*across) + 1e-6
    edge = (length > 0.02) & seam
    if edge.any():
        normal = np.abs(steep_x * across[0] + steep_y * across[1])[edge] / length[edge]
        along = np.abs(steep_x * across[1] - steep_y * across[0])[edge] / length[edge]
        row += [_log(normal.mean()) - _log(along.mean()), _log(normal.mean())]
    else:
        row += [0.0, 0.0]
    for channel in range(3):
        means = [float(lab[..., channel][m].mean()) for m in (inside, seam, outside)]
        row += [means[0] - means[2], means[1] - means[2]]
    colour = lab[..., 1] - cv2.GaussianBlur(lab[..., 1], (0, 0), 1.0)
    row.append(_log(colour[inside].std(), 0.05) - _log(colour[outside].std(), 0.05))
    steps = np.abs(np.diff(grey, axis=1))
    border = (np.arange(left, left + steps.shape[1]) + 1) % BLOCK == 0
    for mask in (inside[:, 1:], outside[:, 1:]):
        on, off = steps[:, border][mask[:, border]], steps[:, ~border][mask[:, ~border]]
        row.append(_log(on.mean()) - _log(off.mean()) if on.size and off.size else 0.0)
    pairs = [_pairs(fine, inside, 1.0), _pairs(fine, seam, 1.0), _pairs(curved, inside, 3.0)]
    pairs += [pairs[0] - _pairs(fine, outside, 1.0), _pairs(curved, seam, 3.0) - _pairs(curved, outside, 3.0)]
    return np.array(row), np.concatenate(pairs)


def _pairs(values: Picture, mask: Flags, step: float) -> Array:
    """Return how often which levels of fine detail lie side by side, (9,), summing to at most 1."""
    level = np.clip(np.rint(values / step), -2, 2).astype(int) + 2
    across = (level[:, :-1] * 5 + level[:, 1:])[mask[:, :-1] & mask[:, 1:]]
    down = (level[:-1] * 5 + level[1:])[mask[:-1] & mask[1:]]
    counts = np.bincount(np.concatenate([across, down]), minlength=25).reshape(5, 5).astype(np.float64)
    counts += counts.T
    counts += counts[::-1, ::-1]
    chosen = np.array([counts[pair] for pair in _PAIRS])
    return np.asarray(chosen / max(float(chosen.sum()), 1.0))


def _correlation(first: Array, second: Array) -> float:
    spread = float(first.std() * second.std())
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread > 1e-9 else 0.0


def _over_time(crops: Picture, fixed: dict[Ring, Flags], lower: Flags, span: tuple[int, int]) -> Array:
    """Return what a part shows over time, in the face's own frame: flicker, motion, edges of a span."""
    change, jerk = np.abs(np.diff(crops, axis=0)), np.abs(np.diff(crops, 2, axis=0))
    changes = {ring: change[:, mask].mean(1).astype(np.float64) for ring, mask in fixed.items()}
    jerks = {ring: jerk[:, mask].mean(1).astype(np.float64) for ring, mask in fixed.items()}
    values: list[float] = []
    for ring, mask in fixed.items():
        series, level = changes[ring], crops[:, mask].mean(1).astype(np.float64)
        values += [
            _log(series.mean()),
            _log(jerks[ring].mean()) - _log(series.mean()),
            _log(series.max()) - _log(np.median(series)),
            _log(np.median(series)) - _log(series.min()),
            _log(np.abs(np.diff(level)).mean(), 0.02),
            _log(np.abs(np.diff(level, 2)).mean(), 0.02),
        ]
    for ring in (INSIDE, SEAM):
        values += [
            _log(changes[ring].mean()) - _log(changes[OUTSIDE].mean()), _correlation(changes[ring], changes[OUTSIDE])
        ]  # fmt: skip
    flows = [
        cv2.calcOpticalFlowFarneback(one, two, None, 0.5, 2, 11, 2, 5, 1.1, 0)  # type: ignore[call-overload]
        for one, two in pairwise(crops)
    ]
    flow = np.array(flows, np.float64)
    inner, outer, chin = (
        np.asarray(flow[:, mask].mean(1), np.float64) for mask in (fixed[INSIDE], fixed[OUTSIDE], lower)
    )
    spread = flow[:, fixed[INSIDE]].std(1)
    for axis in (0, 1):
        against = inner[:, axis] - outer[:, axis]
        values += [
            _log(against.std(), 0.01),
            _log(np.diff(against).std(), 0.01) - _log(against.std(), 0.01),
            _correlation(inner[:, axis], outer[:, axis]),
            _log(inner[:, axis].std(), 0.01) - _log(outer[:, axis].std(), 0.01),
            _log(spread[:, axis].mean(), 0.01),
        ]
    dark = np.percentile(crops[:, fixed[INSIDE]], 8, axis=1).astype(np.float64)
    opens = np.diff(dark)
    values += [_correlation(opens, chin[:, 1]), _correlation(dark[1:], np.cumsum(chin[:, 1]))]
    values += [_log(dark.std(), 0.5), _correlation(np.abs(opens), np.abs(chin[:, 1]))]
    for ring in (INSIDE, SEAM):
        for series in (changes[ring], jerks[ring]):
            near = np.concatenate([series[max(0, edge - BESIDE) : edge + BESIDE] for edge in span])
            values += [_log(near.max()) - _log(np.median(series)), _log(near.mean()) - _log(series.mean())]
    sharp = np.array([np.abs(cv2.Laplacian(crop, cv2.CV_32F))[fixed[INSIDE]].mean() for crop in crops])
    near = np.concatenate([sharp[max(0, edge - BESIDE) : edge + BESIDE] for edge in span])
    within = sharp[span[0] + BESIDE : span[1] - BESIDE]
    beyond = np.concatenate([sharp[: max(0, span[0] - BESIDE)], sharp[span[1] + BESIDE :], sharp[:1]])
    lively = changes[SEAM]
    values += [_log(near.mean()) - _log(sharp.mean()), _log(near.min()) - _log(sharp.mean())]
    values += [_log(within.mean()) - _log(beyond.mean())]
    values += [_log(lively[span[0] + 2 : span[1] - 2].mean()) - _log(lively.mean())]
    return np.array(values)
