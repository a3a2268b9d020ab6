"""What of a face is exchanged, what must fit around it, how the head is turned, and what the expression is.

Numbers are landmarks of MediaPipe's mesh of 468. Lengths in a face are in units of the distance of the outer corners
of its eyes.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels
from bundle_tools.filmed.track import LEFT_EYE, RIGHT_EYE, Points

Array = NDArray[np.float64]

MOUTH, EYES = "mouth", "eyes"
STABLE = (
    *(33, 133, 362, 263, 168, 6, 197, 195, 5, 4, 10, 151),
    *(9, 127, 356, 234, 454, 98, 327, 2, 54, 284, 103, 332),
)
"""Landmarks that no expression moves."""
HULL = {
    MOUTH: (203, 423, 206, 426, 207, 427, 216, 436, 212, 432, 202, 422, 204, 424, 200, 164),
    EYES: (
        *(69, 104, 68, 108, 337, 299, 333, 298, 156, 383, 143),
        *(372, 111, 340, 117, 346, 118, 347, 119, 348, 6),
    ),
}
"""Landmarks whose hull is exchanged, by part."""
RING = {
    MOUTH: (
        *(2, 98, 327, 64, 294, 205, 425, 50, 280, 187, 411, 192, 416, 214, 434, 135),
        *(364, 169, 394, 170, 395, 171, 396, 175, 152, 148, 377, 176, 400, 136, 365),
    ),
    EYES: (
        *(9, 151, 10, 108, 337, 67, 297, 103, 332, 54, 284, 21, 251, 139, 368, 34),
        *(264, 116, 345, 123, 352, 50, 280, 101, 330, 36, 266, 126, 355, 197, 195, 5),
    ),
}
"""Landmarks around a part that must fit what surrounds it, by part."""
LIDS = ((33, 160, 158, 133, 153, 144), (362, 385, 387, 263, 373, 380))
"""Landmarks along the lids of both eyes."""
CHEEKS = (234, 454)
"""Landmarks at the sides of the face, right and left."""
SMALLEST_SD = 0.006
"""Standard deviations of an expression below this are noise of the landmarks, in units."""
_LOCAL = (13, 14, 61, 291, 159, 145, 386, 374, 105, 334, RIGHT_EYE, LEFT_EYE)
"""Landmarks of expressions: lips, corners of the mouth, lids of both eyes, brows, corners of the eyes."""


def smoothed(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return values of successive frames, (n, ...), smoothed over time by a Gaussian of one frame."""
    kernel = np.exp(-0.5 * np.arange(-3, 4) ** 2.0)
    kernel /= kernel.sum()
    padded = np.concatenate([values[:1]] * 3 + [values] + [values[-1:]] * 3)
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis=0)
    return np.asarray(windows @ kernel, np.float32)


def affine(source: NDArray[np.floating], target: NDArray[np.floating]) -> Array:
    """Return the least-squares affine maps, (..., 2, 3), that bring points (..., k, 2) to points (..., k, 2)."""
    ones = np.ones((*source.shape[:-1], 1))
    return np.asarray(np.swapaxes(np.linalg.pinv(np.concatenate([source, ones], axis=-1)) @ target, -1, -2))


def mapped(points: NDArray[np.floating], matrix: Array) -> Array:
    """Apply affine maps (..., 2, 3) to points (..., k, 2)."""
    return np.asarray(points @ np.swapaxes(matrix[..., :2], -1, -2) + matrix[..., None, :, 2])


def unit_of(points: NDArray[np.floating]) -> float:
    """Return the distance of the outer corners of the eyes in one face, pixels."""
    return float(np.linalg.norm(points[RIGHT_EYE, :2] - points[LEFT_EYE, :2]))


def pose(points: Points) -> Array:
    """Return yaw, pitch and roll in degrees, and the logarithm of the scale, against the clip's mean face, (n, 4)."""
    stable = points[:, list(STABLE)].astype(np.float64)
    mean = stable.mean(0)
    mean -= mean.mean(0)
    centred = stable - stable.mean(1, keepdims=True)
    left, _, right = np.linalg.svd(np.swapaxes(mean.T @ centred, 1, 2))
    flip = np.ones((len(points), 1, 3))
    flip[:, 0, 2] = np.sign(np.linalg.det(left @ right))
    turn = (left * flip) @ right
    scale = np.sqrt((centred**2).sum((1, 2)) / (mean**2).sum())
    yaw = np.arctan2(turn[:, 0, 2], turn[:, 2, 2])
    pitch = np.arcsin(np.clip(-turn[:, 1, 2], -1, 1))
    roll = np.arctan2(turn[:, 1, 0], turn[:, 1, 1])
    return np.column_stack([np.degrees(yaw), np.degrees(pitch), np.degrees(roll), np.log(scale)])


def yaw_to_camera(points: Points) -> Array:
    """Return by how many degrees each face looks to the side of the camera, (n,), >= 0."""
    across = (points[:, CHEEKS[1]] - points[:, CHEEKS[0]]).astype(np.float64)
    return np.asarray(np.degrees(np.arctan2(np.abs(across[:, 2]), np.hypot(across[:, 0], across[:, 1]))))


def local(points: NDArray[np.floating], names: tuple[int, ...]) -> Array:
    """Return landmarks in the face's own frame, in units, (n, k, 2): the pose is taken out by an affine map."""
    stable = points[:, list(STABLE), :2].astype(np.float64)
    mean = points[..., :2].mean(0)
    to_mean = affine(stable, mean[list(STABLE)])
    return mapped(points[:, list(names), :2].astype(np.float64), to_mean) / unit_of(mean)


def glance(picture: Pixels, points: Points) -> float:
    """Return how far the dark of both eyes lies to one side, in widths of an eye; 0 where none is seen.

    `picture`: BGR. `points`: of its face, (468, 3).
    """
    height, width = picture.shape[:2]
    total = 0.0
    for lids in LIDS:
        corners = points[list(lids), :2].astype(np.float64)
        left, top = np.maximum(np.floor(corners.min(0)).astype(int), 0)
        right, bottom = np.minimum(np.ceil(corners.max(0)).astype(int) + 1, (width, height))
        if right - left < 2 or bottom - top < 2:
            continue
        grey = cv2.cvtColor(picture[top:bottom, left:right], cv2.COLOR_BGR2GRAY).astype(np.float64)
        inside = np.zeros(grey.shape, np.uint8)
        cv2.fillPoly(inside, [np.rint(corners - (left, top)).astype(np.int32)], 1)
        if not inside.any():
            continue
        dark = inside * np.clip(np.percentile(grey[inside > 0], 70) - grey, 0, None)
        axis = corners[3] - corners[0]
        y, x = np.mgrid[top:bottom, left:right]
        along = ((x - corners[0, 0]) * axis[0] + (y - corners[0, 1]) * axis[1]) / max(axis @ axis, 1e-9)
        if dark.sum() > 0:
            total += 0.5 * (float((along * dark).sum() / dark.sum()) - 0.5)
    return total


def expressions(points: NDArray[np.floating], glances: Array) -> dict[str, Array]:
    """Return the expression of each part, (n, 3), in standard deviations of the clip.

    The first column is kept in exchanges: the mouth's opening follows the voice, and the lids blink. The others may
    differ: width and lift of the corners of the mouth; height of the brows and glance. `points`: smoothed landmarks,
    (n, 468, 2). `glances`: of each frame, (n,).
    """
    at = local(points, _LOCAL)

    def gap(first: int, second: int) -> Array:
        return np.asarray(np.linalg.norm(at[:, first] - at[:, second], axis=1))

    y = at[..., 1]
    raw: dict[str, tuple[NDArray[np.floating], ...]] = {
        MOUTH: (gap(0, 1), gap(2, 3), (y[:, 0] + y[:, 1] - y[:, 2] - y[:, 3]) / 2),
        EYES: (gap(4, 5) + gap(6, 7), y[:, 10] + y[:, 11] - y[:, 8] - y[:, 9], smoothed(glances)),
    }
    columns = {part: np.stack(values, axis=1).astype(np.float64) for part, values in raw.items()}
    return {part: (v - v.mean(0)) / np.maximum(v.std(0), SMALLEST_SD) for part, v in columns.items()}


def corners_of(points: NDArray[np.floating], part: str) -> tuple[int, ...]:
    """Return the landmarks at the corners of a part in one face, in order around it."""
    names = np.array(HULL[part])
    order = cv2.convexHull(points[names, :2].astype(np.float32), returnPoints=False)
    return tuple(names[order.ravel()].tolist())


def grown(corners: Array, factor: float) -> Array:
    """Return an outline (k, 2) enlarged around its middle."""
    middle = corners.mean(0)
    return np.asarray(middle + (corners - middle) * factor)
