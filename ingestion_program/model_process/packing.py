"""Convert what a model returned to plain JSON and raw bytes, and back.

Packing happens inside the model process: an unusual object (a dict subclass, a lazy array, a GPU tensor) runs its own
code there, and ingestion only ever sees JSON and bytes.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

MAXIMUM_ARRAY_BYTES = 48 << 20
MAXIMUM_DEPTH = 8
MAXIMUM_ITEMS = 100_000
MAXIMUM_TEXT = 100_000
MAXIMUM_CHARACTERS = 1_000_000
COLOUR_MODES = ("P", "PA", "CMYK", "YCbCr", "LAB", "HSV")
"""Modes of Pillow's pictures whose numbers are no grey levels or RGB."""
ARRAY, OTHER = "$array", "$other"
# Only plain types: NumPy evaluates parts of longer type descriptions as Python source.
PLAIN_DTYPE = re.compile(r"[<|][biuf][0-9]{1,2}")

Array = npt.NDArray[Any]


class Packer:
    """Converts one answer to JSON types and collects its arrays."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._size = 0
        self._items = 0
        self._characters = 0

    def pack(self, value: object, depth: int = 0) -> Any:  # noqa: ANN401 - depends on the value
        """Return `value` as JSON types; arrays and anything else become an object with one `$` key."""
        self._items += 1
        size = len(value) if isinstance(value, dict | list | tuple) else 0
        if depth > MAXIMUM_DEPTH or self._items + size > MAXIMUM_ITEMS:
            return {OTHER: "a structure that is too deep or too large"}
        if isinstance(value, str):
            value = value[:MAXIMUM_TEXT]
            self._characters += len(value)
            return value if self._characters <= MAXIMUM_CHARACTERS else {OTHER: "too much text"}
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 63 else {OTHER: "an integer of more than 63 bits"}
        if isinstance(value, float):
            return float(value)
        if isinstance(value, np.generic):
            return self.pack(value.item(), depth + 1)
        if isinstance(value, dict):
            return {str(key)[:100]: self.pack(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.pack(item, depth + 1) for item in value]
        array = as_array(value)
        if np.ma.is_masked(array):
            return {OTHER: "masked values: fill them, such as .filled(0)"}
        return {OTHER: type(value).__name__} if array is None else self._pack_array(array)

    def _pack_array(self, array: Array) -> dict[str, Any]:
        if array.dtype.kind not in "biuf":
            return {OTHER: f"an array of dtype {array.dtype}"}
        # Check before copying.
        if self._size + array.nbytes > MAXIMUM_ARRAY_BYTES:
            return {OTHER: f"an array of {array.nbytes} bytes, with shape {array.shape}"}
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        description = {"dtype": array.dtype.str, "shape": list(array.shape), "offset": self._size}
        self._blocks.append(array.tobytes())
        self._size += array.nbytes
        return {ARRAY: description}

    def blob(self) -> bytes:
        """Return the bytes of all arrays, in the order in which they were packed."""
        return b"".join(self._blocks)


def as_array(value: object) -> Array | None:
    """Return `value` as a NumPy array if it is array-like (NumPy, PyTorch, Pillow), else None."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu()
    if getattr(value, "mode", None) in COLOUR_MODES and hasattr(value, "convert"):
        value = value.convert("RGB")
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    return None


def unpack(value: Any, blob: bytes) -> Any:  # noqa: ANN401 - the inverse of pack
    """Return the packed `value` with its arrays rebuilt from `blob`; a malformed one becomes a `$other` object."""
    if isinstance(value, list):
        return [unpack(item, blob) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {ARRAY}:
        array = _unpack_array(value[ARRAY], blob)
        return {OTHER: "a malformed array"} if array is None else array
    return {key: unpack(item, blob) for key, item in value.items()}


def _unpack_array(description: Any, blob: bytes) -> Array | None:  # noqa: ANN401 - comes from the other process
    try:
        text, (*shape,), offset = description["dtype"], description["shape"], description["offset"]
        # Truth values and floats are no sizes.
        if not PLAIN_DTYPE.fullmatch(text) or any(type(size) is not int or size < 0 for size in (*shape, offset)):
            return None
        if len(shape) > MAXIMUM_DEPTH:
            return None
        dtype = np.dtype(text)
        count = 1
        for size in shape:
            count *= size
        if offset + count * dtype.itemsize > len(blob):
            return None
        return np.frombuffer(blob, dtype, count, offset).reshape(shape)
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
