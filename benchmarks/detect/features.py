"""Input of the detectors: hand-made features, and patches to learn from.

Detectors know more than any submission: the outlines of the suspected parts and the jitter of the call. What they do
not find there, a submission does not find, either.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from benchmarks.detect.shown import RATE, Shown
from ingest.media.exchange import mask_of

Numbers = npt.NDArray[np.float32]
STEP = 8
"""One in this many frames is measured in full, with the next one."""
BAND = 6
"""Pixels on either side of an outline."""
PATCH = 16
PATCHES = 24
"""Patches per call, evenly spaced along the outlines."""
EDGE_S = 0.02
"""How far around the beginning and end of words steps of the sound are looked for."""
CELL = 40
"""Pixels of a cell's side in pictures of 640 x 360."""
_TINY = 1e-3


@dataclass(frozen=True, eq=False)
class Seen:
    """The measurements of one call."""

    numbers: dict[str, float]
    """Features made by hand, by name."""
    patches: Numbers
    """Patches across the outlines, turned so that the outside is above: shape (patches, 3 * PATCH**2)."""


def look(shown: Shown) -> Seen:
    """Measure one call."""
    pictures, changes = [], []
    before: Numbers | None = None
    kept: dict[int, Numbers] = {}
    for index, frame in enumerate(shown.frames()):
        grey = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.float32)
        if index % STEP == 0:
            pictures.append(frame.astype(np.float32).mean(axis=(0, 1)))
        if index % STEP in (0, 1):
            kept[index] = grey
        if before is not None:
            changes.append(float(cv2.absdiff(grey, before).mean()))
        before = grey
    firsts = [kept[index] for index in sorted(kept) if index % STEP == 0]
    pairs = [(kept[index], kept[index + 1]) for index in sorted(kept) if index % STEP == 0 and index + 1 in kept]
    numbers = _of_picture(firsts, np.array(pictures), np.array(changes))
    still = np.asarray(np.mean(firsts, axis=0), np.float32)
    moving = np.asarray(np.mean([cv2.absdiff(one, other) for one, other in pairs], axis=0), np.float32)
    detail = np.asarray(np.mean([np.abs(_detail(frame)) for frame in firsts], axis=0), np.float32)
    mask = _moved(mask_of(shown.parts, *still.shape).view(np.uint8), *shown.shift)
    inside, outside = (cv2.distanceTransform(side, cv2.DIST_L2, 5) for side in (mask, 1 - mask))
    far = np.asarray(np.where(mask > 0, inside - 0.5, 0.5 - outside), np.float32)  # pixels; negative outside
    numbers |= _of_region(far, still, moving, detail, firsts, pairs)
    numbers |= _of_sound(shown)
    numbers["words"] = float(len(shown.clip.transcript.split()))
    numbers["characters"] = float(len(shown.clip.transcript))
    patches = _patches(far, [still, moving * 4, detail * 4])
    return Seen(numbers, patches.astype(np.float16))


def _detail(grey: Numbers) -> Numbers:
    return np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), 1.0), np.float32)


def _of_picture(frames: list[Numbers], colours: Numbers, changes: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return features of the whole picture: light, detail by region, borders of cells, repeated frames."""
    numbers = {f"colour {name}": float(value) for name, value in zip("rgb", colours.mean(axis=0), strict=True)}
    numbers["contrast"] = float(np.mean([frame.std() for frame in frames]))
    details = np.array([np.abs(_detail(frame)) for frame in frames[::3]]).mean(axis=0)
    numbers["detail"] = float(np.log(details.mean() + _TINY))
    regions = details.reshape(3, details.shape[0] // 3, 4, details.shape[1] // 4).mean(axis=(1, 3)).ravel()
    numbers |= {f"detail of region {at}": float(np.log(contrast + _TINY)) for at, contrast in enumerate(regions)}
    numbers["least detail of a region"] = float(np.log(regions.min() + _TINY))
    cells = details.reshape(9, CELL, 16, CELL).mean(axis=(1, 3))
    numbers["least detail of a cell"] = float(np.log(cells.min() + _TINY))
    numbers["cells without detail"] = float((cells < 0.1).mean())
    still = np.mean(frames, axis=0)
    for axis, name in ((1, "upright"), (0, "level")):
        edges = np.abs(np.diff(still, axis=axis)).mean(axis=1 - axis)
        places = np.arange(1, len(edges) + 1)
        numbers[f"{name} borders of cells"] = float(
            np.log((edges[places % CELL == 0].mean() + _TINY) / (edges[np.isin(places % CELL, (4, 36))].mean() + _TINY))
        )
    numbers["frames that repeat"] = float((changes == 0).mean())
    numbers["frames that hardly change"] = float((changes < 0.3 * np.median(changes)).mean())
    numbers["largest change"] = float(np.log(changes.max() + _TINY))
    numbers["median change"] = float(np.log(np.median(changes) + _TINY))
    numbers["smallest change"] = float(np.log(changes.min() + _TINY))
    numbers["largest against median change"] = numbers["largest change"] - numbers["median change"]
    return numbers


def _moved(mask: npt.NDArray[np.uint8], right: int, down: int) -> npt.NDArray[np.uint8]:
    matrix = np.array([[1, 0, right], [0, 1, down]], np.float32)
    size = (mask.shape[1], mask.shape[0])
    return np.asarray(cv2.warpAffine(mask, matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _of_region(
    far: Numbers,
    still: Numbers,
    moving: Numbers,
    detail: Numbers,
    firsts: list[Numbers],
    pairs: list[tuple[Numbers, Numbers]],
) -> dict[str, float]:
    """Return features of the suspected parts: their inside compared with their surroundings, and seams along them."""
    numbers = {}
    regions = {
        "inside": far > BAND,
        "inner rim": (far > 0) & (far <= BAND),
        "outer rim": (far < 0) & (far >= -BAND),
        "outside": (far < -BAND) & (far >= -4 * BAND),
    }
    same = np.mean([one == other for one, other in pairs], axis=0)
    for name, wanted in regions.items():
        region = wanted if wanted.any() else far > 0
        numbers[f"light {name}"] = float(still[region].mean())
        numbers[f"detail {name}"] = float(np.log(detail[region].mean() + _TINY))
        numbers[f"change {name}"] = float(np.log(moving[region].mean() + _TINY))
        numbers[f"equal pixels {name}"] = float(same[region].mean())
    for what in ("detail", "change", "equal pixels", "light"):
        numbers[f"{what} across the outline"] = numbers[f"{what} inner rim"] - numbers[f"{what} outer rim"]
        numbers[f"{what} inside against outside"] = numbers[f"{what} inside"] - numbers[f"{what} outside"]
    bins = np.clip(np.floor(far).astype(int) + BAND, -1, 2 * BAND)
    normal = [cv2.Scharr(far, cv2.CV_32F, *axes) for axes in ((1, 0), (0, 1))]
    length = np.hypot(*normal) + _TINY
    for name, pictures in (("seam of the mean", [still]), ("seam of frames", firsts[::3])):
        profile = np.zeros(2 * BAND)
        for picture in pictures:
            slope = [cv2.Scharr(picture, cv2.CV_32F, *axes) / 32 for axes in ((1, 0), (0, 1))]
            across = np.abs(slope[0] * normal[0] + slope[1] * normal[1]) / length
            for offset in range(2 * BAND):
                # The median, because a few strong edges of the drawing would hide a faint seam in a mean.
                here = across[bins == offset]
                profile[offset] += float(np.median(here)) if len(here) else 0.0
        profile = np.log(profile / len(pictures) + 0.01)
        around = np.median(profile)
        for offset in range(2, 2 * BAND - 2):
            numbers[f"{name} {offset - BAND:+d}"] = float(profile[offset] - around)
        numbers[name] = float(profile[BAND - 1 : BAND + 1].mean() - np.delete(profile, [BAND - 1, BAND]).mean())
    return numbers


def _of_sound(shown: Shown) -> dict[str, float]:
    """Return the levels of the sound in windows of 50 ms, how tonal it is, and the same of suspected words."""
    sound = shown.sound()
    length = RATE // 20
    windows = sound[: len(sound) // length * length].reshape(-1, length).astype(np.float64)
    levels = np.log(np.sqrt(np.square(windows).mean(axis=1)) + 1e-5)
    numbers = {f"sound level {share:.0%}": float(np.quantile(levels, share)) for share in (0.02, 0.1, 0.5, 0.9, 0.98)}
    numbers["sound range"] = numbers["sound level 90%"] - numbers["sound level 10%"]
    power = np.abs(np.fft.rfft(windows * np.hanning(length))) ** 2 + 1e-12
    flatness = np.exp(np.log(power).mean(axis=1)) / power.mean(axis=1)
    numbers["least flatness of sound"] = float(np.quantile(flatness, 0.1))
    numbers["flatness of sound"] = float(np.median(flatness))
    steps = np.abs(np.diff(sound, 2))
    for start_s, end_s in (part.event_s for part in shown.parts if part.transcript is not None and part.event_s):
        within = slice(int(start_s * RATE / length), int(end_s * RATE / length) + 1)
        numbers["sound level of the words"] = float(levels[within].mean())
        numbers["flatness of the words"] = float(np.median(flatness[within]))
        for name, edge_s in (("begin", start_s), ("end", end_s)):
            near = steps[max(0, round((edge_s - EDGE_S) * RATE)) : round((edge_s + EDGE_S) * RATE)]
            numbers[f"steps where the words {name}"] = float(np.log(near.max(initial=0) + 1e-5))
    return numbers


def _patches(far: Numbers, pictures: list[Numbers]) -> Numbers:
    """Return patches whose middle lies on the outline, turned so that the outside is above."""
    margin = PATCH // 2
    inner = np.zeros(far.shape, bool)
    inner[margin:-margin, margin:-margin] = True
    down, right = np.nonzero((np.abs(far) < 1) & inner)
    if not len(down):
        return np.zeros((0, len(pictures) * PATCH**2), np.float32)
    angle = np.arctan2(down - down.mean(), right - right.mean())
    chosen = np.argsort(angle, kind="stable")[np.linspace(0, len(angle) - 1, PATCHES).astype(int)]
    smooth = cv2.GaussianBlur(far, (0, 0), 2)
    slopes = [cv2.Scharr(smooth, cv2.CV_32F, *axes) for axes in ((1, 0), (0, 1))]
    grid = np.arange(PATCH) - (PATCH - 1) / 2
    patches = []
    for y, x in zip(down[chosen], right[chosen], strict=True):
        nx, ny = slopes[0][y, x], slopes[1][y, x]
        size = float(np.hypot(nx, ny)) or 1.0
        nx, ny = nx / size, ny / size  # inwards, which is down in the patch
        map_x = (x + grid[:, None] * nx + grid[None, :] * ny).astype(np.float32)
        map_y = (y + grid[:, None] * ny - grid[None, :] * nx).astype(np.float32)
        cut = [cv2.remap(image, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE) for image in pictures]
        cut[0] = cut[0] - cut[0].mean()
        patches.append(np.concatenate([image.ravel() for image in cut]))
    return np.array(patches, np.float32)
