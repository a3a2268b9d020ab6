"""Stand-ins that the pickle reader uses for the few names that plain data need; nothing is imported.

A pickle may call these with any arguments. They check the arguments and only hold data; any exception they raise
refuses the pickle. They compare and never hash: hashing a tuple nested a million levels deep crashes the process.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

LARGEST_RANK = 8
LARGEST_ARRAY = 16 << 20
"""The largest array, bytes."""
LARGEST_KEY = 1 << 60
"""The largest numeric key of a dict; integers up to this have distinct hashes."""
TYPE_CODE = re.compile(r"[<>|]?(b1|[iu][1248]|f[248])")
PLAIN_TYPES = [
    (version, order, None, None, None, -1, -1, 0, *more) for version, more in ((3, ()), (4, (None,))) for order in "<>|"
]
"""States in which a pickle describes a plain numeric dtype: version, byte order, and no fields or other extras."""
NDARRAY = object()
"""Stands for a class that may only be passed as an argument."""


class PickleRefused(Exception):
    """The pickle is refused; the text says what was found and where."""


class OldString(bytes):
    """A `str` of Python 2: text or bytes, depending on its use."""

    def text(self) -> str:
        """Decode it as UTF-8 if valid, else as Latin-1."""
        try:
            return self.decode("utf-8")
        except UnicodeDecodeError:
            return self.decode("latin-1")


@dataclass(frozen=True)
class Stored:
    """A long text or bytes, not yet read from the file."""

    file: BinaryIO
    offset: int
    """Where it begins in the file, bytes."""
    length: int
    """Its length in the file, bytes."""
    decode: Callable[[bytes], Any]
    """Decodes the bytes."""

    def read(self) -> Any:  # noqa: ANN401 - what `decode` returns
        """Return the text, bytes or Python 2 string. Call this only after the whole pickle has been read."""
        self.file.seek(self.offset)
        return self.decode(self.file.read(self.length))


class Table(dict[Any, Any]):
    """A dict whose keys are plain and distinct."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[object, object]] = ()) -> "Table":
        """Return a table of (key, value) pairs."""
        table = cls()
        for key, value in pairs:
            table[key] = value
        return table

    def __setitem__(self, key: object, value: object) -> None:
        key = as_text(key)
        if not isinstance(key, str | bytes | int | float | None):
            raise PickleRefused(f"a key that is {type(key).__name__}")
        # Larger numbers are hashed by remainder: crafted keys could all collide, and adding them would take hours.
        if isinstance(key, int | float) and not abs(key) <= LARGEST_KEY:
            raise PickleRefused("a key that is a large number")
        if key in self:
            raise PickleRefused(f"the key {ascii(key)[:80]} twice")
        super().__setitem__(key, value)


class NumberType:
    """The dtype of an array."""

    def __init__(self, code: object, align: object, copy: object) -> None:
        word = as_text(code)
        if not isinstance(word, str) or not TYPE_CODE.fullmatch(word) or align not in (0, 1) or copy not in (0, 1):
            raise PickleRefused(f"the number type {ascii(word)[:40]}; booleans, integers and floats are read")
        self.dtype: np.dtype[Any] = np.dtype(word)
        """NumPy's dtype, made from a checked word."""

    def complete(self, state: Iterable[object]) -> None:
        """Add the byte order."""
        words = tuple(map(as_text, state))
        if words not in PLAIN_TYPES:
            raise PickleRefused("a number type that is not plain")
        self.dtype = self.dtype.newbyteorder(words[1])  # type: ignore[arg-type] # one of three words

    def numbers(self, data: bytes) -> npt.NDArray[Any]:
        """Return the numbers in `data` as a one-dimensional array."""
        # A boolean stored as a byte other than 0 or 1 would be neither true nor false.
        return np.frombuffer(data, np.uint8) != 0 if self.dtype.kind == "b" else np.frombuffer(data, self.dtype)


class StoredArray:
    """An array whose bytes are in memory or still in the file."""

    def __init__(self) -> None:
        self.data: bytes | Stored | None = None
        """The bytes; None until they are set, which most pickles do after making the array."""
        self._array: npt.NDArray[Any] | None = None

    def complete(self, state: tuple[Any, ...]) -> None:
        """Set the array's state, which most pickles give after making it."""
        if self.data is not None:
            raise PickleRefused("a second state for an array")
        _, shape, number_type, fortran, data = state
        self.fill(data, number_type, shape, "F" if fortran else "C")

    def fill(self, data: Any, number_type: Any, shape: Any, order: Any, axes: Any = None) -> None:  # noqa: ANN401
        """Set the array's parts, which may be any objects, after checking them."""
        if not isinstance(number_type, NumberType) or not isinstance(data, bytes | Stored):
            raise PickleRefused("an array without a type, or whose content is not bytes")
        if not _whole(shape) or len(shape) > LARGEST_RANK or min(shape, default=0) < 0:
            raise PickleRefused("an array whose shape is not made of a few whole numbers")
        # An empty axis must not hide a huge one.
        size = math.prod(max(length, 1) for length in shape) * number_type.dtype.itemsize
        if size > LARGEST_ARRAY:
            raise PickleRefused(f"an array of {size} bytes; at most {LARGEST_ARRAY} are read")
        if axes is not None and (not _whole(axes) or sorted(axes) != list(range(len(shape)))):
            raise PickleRefused("an array with an unknown order of axes")
        self.data, self._type, self._shape, self._order, self._axes = data, number_type, shape, order, axes

    def read(self) -> npt.NDArray[Any]:
        """Return the array in this machine's byte order; always the same object if its bytes are in memory.

        Raises PickleRefused when bytes and shape do not match.
        """
        if self._array is not None:
            return self._array
        dtype = self._type.dtype
        data = self.data.read() if isinstance(self.data, Stored) else self.data
        if not isinstance(data, bytes) or len(data) != math.prod(self._shape) * dtype.itemsize:
            count = f"{len(data)} bytes" if isinstance(data, bytes) else "a text"
            raise PickleRefused(f"an array of shape {self._shape} and type {dtype} with {count}")
        array = self._type.numbers(data).reshape(self._shape, order=self._order)
        if self._axes is not None:
            array = array.transpose(self._axes)
        array = array.astype(dtype.newbyteorder("="))
        if not isinstance(self.data, Stored):
            self._array = array
        return array


def _whole(numbers: object) -> bool:
    """Whether this is a tuple of integers; checks types, since 0.0 and False equal 0."""
    return isinstance(numbers, tuple) and all(type(number) is int for number in numbers)


def _reconstruct(kind: object, shape: object, code: object) -> StoredArray:
    if kind is not NDARRAY or shape != (0,) or code not in ("b", b"b"):
        raise PickleRefused("an array of an unknown kind")
    return StoredArray()


def _from_buffer(data: object, number_type: object, shape: object, order: object, axes: object = None) -> StoredArray:
    word = as_text(order)
    if word not in ("C", "F", "K"):
        raise PickleRefused("an array in an unknown order")
    array = StoredArray()
    array.fill(data, number_type, shape, "F" if word == "F" else "C", axes)
    return array


def _scalar(number_type: object, data: object) -> float:
    if not isinstance(number_type, NumberType) or not isinstance(data, bytes):
        raise PickleRefused("a number without its type")
    number: float = number_type.numbers(data).item()
    return number


def _encode(text: object, encoding: object = "latin1") -> bytes | Stored:
    """Return the bytes of a text: Python 3 writes bytes for Python 2 as text with one character per byte."""
    if as_text(encoding) not in ("latin1", "latin-1"):
        raise PickleRefused("bytes in an encoding other than Latin-1")
    if isinstance(text, Stored):
        return replace(text, decode=lambda data: _latin1(text.decode(data)))
    return _latin1(text)


def _latin1(text: object) -> bytes:
    if not isinstance(text, str):
        raise PickleRefused("bytes that are not stored as text")
    return text.encode("latin-1")


def as_text(value: object) -> object:
    """Return a Python 2 string as text, and anything else unchanged."""
    return value.text() if isinstance(value, OldString) else value


NAMES: dict[str, object] = {
    "numpy.core.multiarray._reconstruct": _reconstruct,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy.core.numeric._frombuffer": _from_buffer,
    "numpy.dtype": NumberType,
    "numpy.ndarray": NDARRAY,
    "_codecs.encode": _encode,
    "collections.OrderedDict": Table.of,
    "__builtin__.bytes": lambda: b"",
    "builtins.bytes": lambda: b"",
}
"""All names that a pickle may use, and their stand-ins."""
