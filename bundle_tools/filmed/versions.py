"""Both versions of a clip: A', whose mouth and eyes come from moments like its own, and B, from moments unlike them.

Both go through the same search, warp, light, mask and encoder, and jump at the same frames. Around joins both show the
clip's own part, so a player can switch between them unseen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from bundle_tools.canonical import OWN, SOUND_BITS
from bundle_tools.decoding import FromPixels, OpenClip, Pixels, open_clip, own_size
from bundle_tools.encoding import PICTURE, write_clip
from bundle_tools.filmed import face
from bundle_tools.filmed.compose import GAINS, Box, Patcher, Picture, with_detail
from bundle_tools.filmed.face import Array
from bundle_tools.filmed.footage import Footage, Shot, Unsuited
from bundle_tools.filmed.moments import (
    APART,
    BAD_SHARE,
    COVERED,
    GUARD_S,
    Costs,
    Numbers,
    Ways,
    costs,
    differences,
    ways,
)

if TYPE_CHECKING:
    from av import VideoFrame

SHAM, OTHER = "sham", "other"
"""The versions A' and B."""
OPTIONS = {**OWN, "crf": "22", "mbtree": "0"}
"""Options of libx264: with its macroblock tree, other runs gave other bytes of the same pictures on AVX-512."""
ANCHOR, FADE, CALM = 2, 3, 4
"""Frames beside a join that show the clip's own part, that fade it in, and in which B must be like the clip, too."""
CROSS = 2
"""Frames before and after a jump over which both moments are cross-faded."""
SAMPLES = 12
"""Frames of a shot in which fine detail is compared."""
OUTLINE = 1.28
"""Factor of an outline that contains all that is exchanged."""
KEY_S = 0.2
"""Time between two outlines of a moving part, seconds."""
FEW_S = 1.0
"""A frame with fewer moments to choose from than these seconds, as with a hand over the part, shows the clip's own."""
MOST_OWN = 0.4
"""Largest share of frames that show the clip's own part, those around joins included."""


@dataclass(frozen=True)
class Search:
    """The moments of one part in one shot."""

    shot: Shot
    patcher: Patcher
    own: Array
    """Share of the clip's own part in each frame, 0 to 1, (n,)."""
    costs: Costs
    ways: Ways

    @property
    def counted(self) -> int:
        """Number of frames that show another moment."""
        return int((self.own < 1).sum())

    def moments(self, version: str) -> Numbers:
        """Return the moment of each frame."""
        return self.ways.sham if version == SHAM else self.ways.other


class Versions:
    """Both versions of one clip: found when made, painted when written."""

    def __init__(self, footage: Footage, side: int) -> None:
        """Find the moments; `side`: -1 or 1, the neighbouring frame that the clip's own part is resampled from.

        Raises Unsuited when no part can be offered.
        """
        self._footage, self._side = footage, side
        self._searches: dict[str, list[Search]] = {}
        self.figures: dict[str, dict[str, float]] = {}
        """What was measured of each part, by its name."""
        self.refused: dict[str, str] = {}
        """Why a part is not offered, by its name."""
        for part in face.HULL:
            # The corners of one mean face, so that outlines of different shots have the same.
            corners = face.corners_of(np.mean([shot.points.mean(0) for shot in footage.shots], axis=0), part)
            searches = [self._search(part, corners, shot) for shot in footage.shots]
            self.figures[part] = _figures(searches)
            if reason := _refusal(self.figures[part]):
                self.refused[part] = reason
            else:
                self._searches[part] = searches
        if not self._searches:
            raise Unsuited("; ".join(f"{part}: {reason}" for part, reason in self.refused.items()))

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are offered."""
        return tuple(self._searches)

    def searches(self, part: str) -> list[Search]:
        """Return the moments of a part, by shot."""
        return self._searches[part]

    def _search(self, part: str, corners: tuple[int, ...], shot: Shot) -> Search:
        guard = max(1, int(GUARD_S * self._footage.fps))
        frames = np.arange(shot.start, shot.stop)
        anchors = np.array([*(join - 0.5 for join in self._footage.joins), *frames[shot.own]])
        patcher = Patcher(part, corners, shot.points, self._footage.size)
        cuts = (self._footage.cuts[int(frame)] for frame in frames)
        surroundings = np.stack([patcher.surroundings(number, cut) for number, cut in enumerate(cuts)])
        covered, expression = differences(surroundings), shot.expressions[part]
        numbers = np.arange(len(frames))
        usable = (covered <= COVERED) & (np.abs(numbers[:, None] - numbers[None]) >= guard)
        anchors = np.concatenate([anchors, frames[usable.sum(1) < FEW_S * self._footage.fps]])
        gap = np.abs(frames[:, None] - anchors[None]).min(1)
        own = np.clip(1 - (gap - ANCHOR) / FADE, 0, 1)
        calm = (gap < ANCHOR + FADE + CALM).astype(np.float64)
        prices = costs(part, shot.poses, expression, covered, calm, guard)
        return Search(shot, patcher, own, prices, ways(part, prices, expression, 1 - own, calm, guard))

    def outlines(self, part: str) -> list[tuple[float, list[list[int]]]]:
        """Return outlines that contain a part: seconds, and corners in pixels within the picture."""
        times, keys = self._footage.times, []
        step = max(1, round(KEY_S * self._footage.fps))
        for search in self._searches[part]:
            frames = len(search.own)
            for frame in sorted({*range(0, frames, step), frames - 1}):
                corners = np.rint(np.clip(search.patcher.outline(frame, OUTLINE), 0, self._footage.size)).astype(int)
                keys.append((round(float(times[search.shot.start + frame] - times[0]), 3), corners.tolist()))
        return keys

    def write(self, content: bytes, version: str, kept: Mapping[int, list[Pixels]]) -> bytes:
        """Return a version as an MP4 file in the canonical form, with the clip's own sound.

        `content`: the clip. `kept`: frames of which a copy is added to their list.
        """
        painter = _Painter(self._searches, self._footage, version, self._side)
        numbers, made = count(), FromPixels()

        def paint(picture: "VideoFrame") -> "VideoFrame":
            number = next(numbers)
            pixels = np.asarray(picture.to_ndarray(format="bgr24", src_colorspace="ITU709"), np.uint8)
            painter.paint(number, pixels)
            if number in kept:
                kept[number].append(pixels.copy())
            return made.picture(pixels, picture)

        with open_clip(content) as source:
            return write_clip(OpenClip(source), {PICTURE}, own_size, OPTIONS, SOUND_BITS, paint=paint)[0]

    def telling_frames(self, part: str) -> list[int]:
        """Return two frames to look at: with the dearest turn, and with the most different expression."""
        frames = []
        for prices in ("turn", "rest"):
            best: tuple[float, int] = (-1.0, 0)
            for search in self._searches[part]:
                values = getattr(search.costs, prices)[np.arange(len(search.own)), search.ways.other]
                values = np.where(search.own == 0, values, -1)
                best = max(best, (float(values.max()), search.shot.start + int(values.argmax())))
            frames.append(best[1])
        return frames

    def box(self, part: str, frame: int) -> Box:
        """Return the part of a frame in which a part lies."""
        search = next(s for s in self._searches[part] if s.shot.start <= frame < s.shot.stop)
        return search.patcher.box(frame - search.shot.start)


class _Painter:
    """Paints one version of a clip, frame by frame in their order."""

    def __init__(self, searches: dict[str, list[Search]], footage: Footage, version: str, side: int) -> None:
        self._searches = [search for of_part in searches.values() for search in of_part]
        self._footage, self._version, self._side = footage, version, side
        self._gains: dict[int, float] = {}

    def paint(self, number: int, picture: Pixels) -> None:
        """Set the parts into a frame, BGR, in place."""
        for index, search in enumerate(self._searches):
            frame = number - search.shot.start
            if 0 <= frame < len(search.own):
                if index not in self._gains:
                    self._gains[index] = self._gain(search)
                box = search.patcher.box(frame)
                search.patcher.put(frame, box, picture, self._part(search, frame, box, self._gains[index]))

    def _patch(self, search: Search, frame: int, box: Box, moment: int) -> Picture:
        moment = min(max(moment, 0), len(search.own) - 1)
        return search.patcher.patch(frame, box, moment, self._footage.cuts[search.shot.start + moment])

    def _part(self, search: Search, frame: int, box: Box, gain: float) -> Picture:
        own = search.own[frame]
        patch = None
        if own < 1:
            moments = search.moments(self._version)
            patch = self._patch(search, frame, box, int(moments[frame]))
            jumps = search.ways.jumps
            for jump in range(max(0, frame - CROSS + 1), min(len(jumps), frame + CROSS + 1)):
                if not jumps[jump]:
                    continue
                # Behind the jump the old moment goes on, before it the new one begins.
                share = (frame - jump + CROSS + 0.5) / (2 * CROSS)
                if frame >= jump:
                    beside = self._patch(search, frame, box, int(moments[jump - 1]) + frame - jump + 1)
                    patch = patch * np.float32(share) + beside * np.float32(1 - share)
                else:
                    beside = self._patch(search, frame, box, int(moments[jump]) - (jump - frame))
                    patch = beside * np.float32(share) + patch * np.float32(1 - share)
            patch = with_detail(patch, gain)
        if own > 0 or patch is None:
            neighbour = self._patch(search, frame, box, frame + self._side)
            patch = neighbour if patch is None else np.float32(own) * neighbour + np.float32(1 - own) * patch
        return patch

    def _gain(self, search: Search) -> float:
        """Return the factor that gives patches as much fine detail as the clip has around the part."""
        patcher, moments = search.patcher, search.moments(self._version)
        ours, theirs = [], []
        for frame in range(0, len(moments), max(1, len(moments) // SAMPLES)):
            cut, box = self._footage.cuts[search.shot.start + frame], patcher.box(frame)
            here = Box(box.left - cut.left, box.top - cut.top, box.right - cut.left, box.bottom - cut.top)
            if min(here.left, here.top) < 0 or here.of(cut.pixels).shape[:2] != box.size[::-1]:
                continue
            ours.append(patcher.detail(frame, box, here.of(cut.pixels).astype(np.float32)))
            theirs.append(patcher.detail(frame, box, self._patch(search, frame, box, int(moments[frame]))))
        return float(np.clip(np.sqrt(np.median(ours) / (np.median(theirs) + 1e-6)), *GAINS)) if ours else 1.0


def _figures(searches: list[Search]) -> dict[str, float]:
    """Return what was measured of a part over all shots."""
    weights = np.array([search.counted for search in searches], np.float64)
    seconds = float(weights.sum())

    def mean(values: list[float]) -> float:
        return round(float(np.average(values, weights=weights)), 4) if seconds else 0.0

    return {
        "own": round(1 - seconds / sum(len(search.own) for search in searches), 4),
        "turned": mean([search.ways.turned for search in searches]) if seconds else 1.0,
        "dearest": round(max(search.ways.dearest for search in searches), 4),
        "apart": mean([search.ways.apart for search in searches]),
        "jumps": float(sum(int(search.ways.jumps.sum()) for search in searches)),
        "holds_sham": mean([search.ways.holds[0] for search in searches]),
        "holds_other": mean([search.ways.holds[1] for search in searches]),
    }


def _refusal(figures: dict[str, float]) -> str:
    """Return why a part is not offered; nothing if it is."""
    if figures["own"] > MOST_OWN:
        return f"covered, or beside a join, in {figures['own']:.0%} of the frames: expected at most {MOST_OWN:.0%}"
    if figures["turned"] > BAD_SHARE:
        return f"no moment fits {figures['turned']:.0%} of the frames: expected at most {BAD_SHARE:.0%}"
    if figures["apart"] < APART:
        return f"the expression hardly changes: {figures['apart']:.2f} SD apart, expected {APART}"
    return ""
