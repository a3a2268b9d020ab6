"""What the machine makes on the way: names that stay names, and arrays that are only put together at the end."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.legacy.pickles.refusal import PickleRefused
from ingest.legacy.pickles.source import Stored

Array = npt.NDArray[np.generic]
TYPE_CODE = re.compile(r"[<>|]?(b1|[iu][1248]|f[248])")


@dataclass(frozen=True)
class Name:
    """One of the known names; nothing is imported for it."""

    text: str
    """Module and name."""


@dataclass(eq=False)
class NumberType:
    """The type of an array's numbers, e.g. `f8`."""

    code: str
    """Kind and bytes."""
    order: str = "|"
    """`<`, `>`, or `|` for one byte; a type that says nothing is that of the machine."""

    def dtype(self) -> "np.dtype[np.generic]":
        """Return NumPy's type, made by us from two checked words."""
        return np.dtype((self.order if self.order in "<>" else "") + self.code)


@dataclass(eq=False)
class ArrayInMaking:
    """An array whose content comes later, as most pickles tell it."""

    content: "StoredArray | None" = None
    """None until it is known."""


@dataclass(frozen=True)
class StoredArray:
    """An array whose bytes are known, or known to lie in the file."""

    dtype: "np.dtype[np.generic]"
    """One of booleans, integers and floats."""
    shape: tuple[int, ...]
    """Its size along each axis."""
    order: str
    """`C` or `F`: which axis changes first in the bytes."""
    axes: tuple[int, ...] | None
    """The axes in another order afterwards; None leaves them."""
    data: bytes | Stored
    """The bytes."""

    def read(self) -> Array:
        """Return the array, in this machine's byte order.

        Raises
        ------
        PickleRefused
            When bytes and shape do not agree.
        """
        data = self.data.read() if isinstance(self.data, Stored) else self.data
        count = 1
        for size in self.shape:
            count *= size
        if not isinstance(data, bytes) or len(data) != count * self.dtype.itemsize:
            raise PickleRefused(f"an array of shape {self.shape} and type {self.dtype} with {len(data)} bytes")
        raw = np.frombuffer(data, np.uint8).astype(bool) if self.dtype.kind == "b" else np.frombuffer(data, self.dtype)
        array: Array = raw.reshape(self.shape, order="F" if self.order == "F" else "C")
        if self.axes is not None:
            array = array.transpose(self.axes)
        return array.astype(self.dtype.newbyteorder("="))
