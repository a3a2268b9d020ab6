"""Regions to hide, in fractions of the frame, so that they are the same at every size."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Box:
    """A rectangle, in shares of the frame's width and height from its top left corner, 0 to 1."""

    left: float
    """Smaller than `right`."""
    top: float
    """Smaller than `bottom`."""
    right: float
    """At most 1."""
    bottom: float
    """At most 1."""

    def mask(self, height: int, width: int) -> Mask:
        """Return which pixels of a picture lie inside, shape (height, width)."""
        mask = np.zeros((height, width), np.bool_)
        top, bottom = round(self.top * height), round(self.bottom * height)
        mask[top:bottom, round(self.left * width) : round(self.right * width)] = True
        return mask


@dataclass(frozen=True)
class Outside:
    """Everything except a rectangle."""

    box: Box

    def mask(self, height: int, width: int) -> Mask:
        """Return which pixels of a picture lie outside, shape (height, width)."""
        return ~self.box.mask(height, width)


@dataclass(frozen=True)
class Cells:
    """Cells of a grid."""

    rows: int
    """Rows of the grid."""
    columns: int
    """Columns of the grid."""
    indices: tuple[int, ...]
    """Cells as row * columns + column."""

    def mask(self, height: int, width: int) -> Mask:
        """Return which pixels of a picture lie in these cells, shape (height, width)."""
        cells = np.zeros(self.rows * self.columns, np.bool_)
        cells[list(self.indices)] = True
        across = (np.arange(width) + 0.5) * self.columns // width
        down = (np.arange(height) + 0.5) * self.rows // height
        mask: Mask = cells.reshape(self.rows, self.columns)[np.ix_(down.astype(int), across.astype(int))]
        return mask


Region = Box | Outside | Cells
