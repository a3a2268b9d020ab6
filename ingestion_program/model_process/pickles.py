"""Read pickles of plain data without unpickling them: unpickling an untrusted file runs untrusted code.

A pickle is a program for a small stack machine. This is the standard library's machine, in its Python version, with
only the opcodes that make data. A name in the file is never imported: it is replaced by a stand-in from `NAMES`, which
holds data, or refused. A list of allowed names would not be enough: NumPy's own functions trust what a pickle tells
them, and a few forged bytes can crash the process or worse. Reads protocols 0 to 5, as written by Python 2 and 3.

A pickle may call the stand-ins with any arguments. They check them, and any exception refuses the pickle. They compare
and never hash or print what they do not know: the hash of a tuple nested a million levels deep crashes the process, and
the text of ten nested lists can fill the memory.
"""

import codecs
import io
import math
import pickle
import pickletools
import re
import struct
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

MOST_BYTES = 512 << 20
"""The largest file. Explanations of 2,000 clips with pictures of 200 x 355 take 426 MB."""
MOST_MADE = 512 << 20
"""The most memory of what stand-ins make: a pickle can make bytes of one text a million times."""
MOST_READS = 8_000_000
"""The most opcodes and arguments. Predictions of 6 targets for 6,000 clips take up to 700,000."""
MOST_VALUES = 2_000_000
"""The most values in the result, counting repeated ones each time: ten nested lists can hold billions."""
DEEPEST = 64
"""The deepest nesting of containers; it also stops on containers that contain themselves."""
LARGEST_ARRAY = 16 << 20
"""The largest array, bytes."""
LARGEST_PIECE = 4 * LARGEST_ARRAY
"""The most bytes of a text or an array in the file: an escaped byte takes up to four characters."""
LARGEST_KEY = 1 << 60
"""The largest numeric key of a dict, and index of the memo; integers up to this have distinct hashes."""
LONGEST_WORD = 512
"""The most bytes of a number or a name written as a line."""
TYPE_CODE = re.compile(r"[<>|]?(b1|[iu][1248]|f[248])")
PLAIN_TYPES = [
    (version, order, None, None, None, -1, -1, 0, *more) for version, more in ((3, ()), (4, (None,))) for order in "<>|"
]
"""States in which a pickle describes a plain numeric dtype: version, byte order, and no fields or other extras."""
KNOWN_FILES = {
    b"PK\x03\x04": "a zip file", b"\x93NUMPY": "a NumPy file (.npy)", b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "a compressed file (gzip)", b"\xff\xd8\xff": "a JPEG picture", b"\x89PNG": "a PNG picture",
    b"<": "HTML or XML", b"{": "text, perhaps JSON",
}  # fmt: skip


class PickleRefused(Exception):
    """The pickle is refused; the text says what was found and where."""


def read_pickle(source: bytes | Path) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return the data of a pickle: dict, list, tuple, str, bytes, int, float, bool, None and `PickledArray`.

    NumPy scalars become Python numbers, ordered dicts plain dicts, and Python 2 strings `str` (UTF-8, else Latin-1).

    Raises PickleRefused when it is not a pickle, contains anything but data, or exceeds a limit.
    """
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        try:
            return _DataUnpickler(_BoundedFile(file)).load()
        except Exception as error:  # noqa: BLE001 - whatever an opcode raises is the file's fault
            refused = isinstance(error, PickleRefused)
            reason = str(error) if refused else f"an instruction that fails: {type(error).__name__}: {error}"
            raise PickleRefused(f"{ascii(reason)[1:-1][:300]}, at byte {file.tell()}") from None


class OldString(bytes):
    """A `str` of Python 2: text or bytes, depending on its use."""

    @cached_property
    def text(self) -> str:
        """The text: UTF-8 if valid, else Latin-1. A pickle can ask for it a million times."""
        try:
            return self.decode("utf-8")
        except UnicodeDecodeError:
            return self.decode("latin-1")


def as_text(value: object) -> object:
    """Return a Python 2 string as text, and anything else unchanged."""
    return value.text if isinstance(value, OldString) else value


class _BoundedFile:
    """The file as the unpickler reads it; every length is checked before memory is allocated."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._reads = 0
        self.left = file.seek(0, io.SEEK_END)  # bytes not read yet
        file.seek(0)
        start = file.read(max(map(len, KNOWN_FILES)))
        file.seek(0)
        for mark, name in KNOWN_FILES.items():
            if start.startswith(mark):
                raise PickleRefused(f"{name}, not a pickle")
        if self.left > MOST_BYTES:
            raise PickleRefused(f"a file of {self.left} bytes; at most {MOST_BYTES} are read")

    def read(self, count: int) -> bytes:
        """Read an opcode or its argument."""
        if count > min(self.left, LARGEST_PIECE):
            length = f"a length of {count} bytes; {self.left} remain, and at most {LARGEST_PIECE} are read"
            raise PickleRefused(length if count > 1 else "a file that ends too early")
        self._reads += 1
        if self._reads > MOST_READS:
            raise PickleRefused(f"more than {MOST_READS} instructions and arguments")
        self.left -= count
        return self._file.read(count)

    def readline(self, longest: int = LONGEST_WORD) -> bytes:
        """Read a number or a name up to the end of its line."""
        line = self._file.readline(longest + 1)
        if not line.endswith(b"\n"):
            raise PickleRefused("a line that is too long" if len(line) > longest else "a file that ends too early")
        self.left -= len(line)
        return line


class PlainDict(dict[Any, Any]):
    """A dict whose keys are plain and distinct."""

    def __setitem__(self, key: object, value: object) -> None:
        key = as_text(key)
        if not isinstance(key, str | bytes | int | float | None):
            raise PickleRefused(f"a key that is {type(key).__name__}")
        # Larger numbers are hashed by remainder: crafted keys could all collide, and adding them would take hours.
        if isinstance(key, int | float) and not abs(key) <= LARGEST_KEY:
            raise PickleRefused("a key that is a large number")
        if key in self:
            shown = key[:80] if isinstance(key, str | bytes) else key
            raise PickleRefused(f"the key {shown!a} twice")
        super().__setitem__(key, value)


class NumberType:
    """Stands in for `numpy.dtype`."""

    def __init__(self, written: object, align: object, copy: object) -> None:
        word = as_text(written)
        if not isinstance(word, str) or not TYPE_CODE.fullmatch(word) or align not in (0, 1) or copy not in (0, 1):
            shown = ascii(word[:40]) if isinstance(word, str) else f"of {type(word).__name__}"
            raise PickleRefused(f"the number type {shown}; booleans, integers and floats are read")
        self.dtype: np.dtype[Any] = np.dtype(word)

    def set_state(self, state: Iterable[object]) -> None:
        """Set the byte order."""
        words = tuple(map(as_text, state))
        if words not in PLAIN_TYPES:
            raise PickleRefused("a number type that is not plain")
        self.dtype = self.dtype.newbyteorder(words[1])  # type: ignore[arg-type] # one of three words

    def numbers(self, data: bytes) -> npt.NDArray[Any]:
        """Return the numbers in `data` as a one-dimensional array."""
        # A boolean stored as a byte other than 0 or 1 would be neither true nor false.
        return np.frombuffer(data, np.uint8) != 0 if self.dtype.kind == "b" else np.frombuffer(data, self.dtype)


class PickledArray:
    """Stands in for an array, which is made when it is needed: a pickle can mention one a million times."""

    data: bytes | None = None
    """None until the parts are set, which most pickles do after making the array."""

    def set_state(self, state: tuple[Any, ...]) -> None:
        """Set the array's parts, which may be any objects."""
        if self.data is not None:
            raise PickleRefused("a second state for an array")
        _, shape, number_type, fortran, data = state
        self.fill(data, number_type, shape, "F" if fortran else "C")

    def fill(self, data: Any, number_type: Any, shape: Any, order: Any, axes: Any = None) -> None:  # noqa: ANN401
        """Set the array's parts, which may be any objects, after checking them."""
        if not isinstance(number_type, NumberType) or not isinstance(data, bytes):
            raise PickleRefused("an array without a type, or whose content is not bytes")
        if not _whole(shape) or len(shape) > 8 or min(shape, default=0) < 0:
            raise PickleRefused("an array whose shape is not made of a few whole numbers")
        dtype = number_type.dtype
        # An empty axis must not hide a huge one.
        size = math.prod(max(length, 1) for length in shape) * dtype.itemsize
        if size > LARGEST_ARRAY:
            raise PickleRefused(f"an array of {size} bytes; at most {LARGEST_ARRAY} are read")
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise PickleRefused(f"an array of shape {shape} and type {dtype} with {len(data)} bytes")
        axes = tuple(range(len(shape))) if axes is None else axes
        if not _whole(axes) or sorted(axes) != list(range(len(shape))):
            raise PickleRefused("an array with an unknown order of axes")
        self.data, self._type, self._shape, self._order, self._axes = data, number_type, shape, order, axes

    def read(self) -> npt.NDArray[Any]:
        """Return the array in this machine's byte order."""
        numbers = self._type.numbers(self.data or b"")
        array = numbers.reshape(self._shape, order=self._order).transpose(self._axes)
        return array.astype(self._type.dtype.newbyteorder("="))


def _whole(numbers: object) -> bool:
    """Whether this is a tuple of integers; checks types, since 0.0 and False equal 0."""
    return isinstance(numbers, tuple) and all(type(number) is int for number in numbers)


def _reconstruct(kind: object, shape: object, code: object) -> PickledArray:
    if kind is not NAMES["numpy.ndarray"] or shape != (0,) or code not in ("b", b"b"):
        raise PickleRefused("an array of an unknown kind")
    return PickledArray()


def _from_buffer(data: object, number_type: object, shape: object, order: object, axes: object = None) -> PickledArray:
    word = as_text(order)
    if word not in ("C", "F", "K"):
        raise PickleRefused("an array in an unknown order")
    array = PickledArray()
    array.fill(data, number_type, shape, "F" if word == "F" else "C", axes)
    return array


def _scalar(number_type: object, data: object) -> float:
    if not isinstance(number_type, NumberType) or not isinstance(data, bytes):
        raise PickleRefused("a number without its type")
    number: float = number_type.numbers(data).item()
    return number


def _encode(text: object, encoding: object = "latin1") -> bytes:
    """Return the bytes of a text: Python 3 writes bytes for Python 2 as text with one character per byte."""
    if as_text(encoding) not in ("latin1", "latin-1"):
        raise PickleRefused("bytes in an encoding other than Latin-1")
    if not isinstance(text, str):
        raise PickleRefused("bytes that are not stored as text")
    return text.encode("latin-1")


def _dict(pairs: Iterable[tuple[object, object]] = ()) -> PlainDict:
    table = PlainDict()
    for key, value in pairs:
        table[key] = value
    return table


NAMES: dict[str, object] = {
    "numpy.core.multiarray._reconstruct": _reconstruct,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy.core.numeric._frombuffer": _from_buffer,
    "numpy.dtype": NumberType,
    "numpy.ndarray": object(),  # may only be passed as an argument
    "_codecs.encode": _encode,
    "collections.OrderedDict": _dict,
    "__builtin__.bytes": lambda: b"",
    "builtins.bytes": lambda: b"",
}
"""All names that a pickle may use, and their stand-ins."""


class _Steps(dict[int, Callable[[Any], None]]):
    """The function of each opcode; any other opcode is refused by name."""

    def __missing__(self, code: int) -> Callable[[Any], None]:
        for info in pickletools.opcodes:
            if ord(info.code) == code:
                raise PickleRefused(f"the step {info.name}, which plain data does not need")
        raise PickleRefused(f"the byte {bytes([code])!r}, which is no instruction")


AS_THEY_ARE = b"".join((
    pickle.PROTO, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.INT, pickle.LONG, pickle.LONG1, pickle.FLOAT,
    pickle.BINFLOAT, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.SHORT_BINSTRING, pickle.BINSTRING,
    pickle.SHORT_BINUNICODE, pickle.BINUNICODE, pickle.BINUNICODE8, pickle.SHORT_BINBYTES, pickle.BINBYTES,
    pickle.BINBYTES8, pickle.EMPTY_LIST, pickle.LIST, pickle.APPEND, pickle.APPENDS, pickle.SETITEM, pickle.SETITEMS,
    pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.GET, pickle.BINGET,
    pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE, pickle.GLOBAL, pickle.STACK_GLOBAL,
    pickle.STOP,
))  # fmt: skip
"""Opcodes of the standard library that allocate no more than they read, and call nothing."""


class _DataUnpickler(pickle._Unpickler):
    """The standard library's unpickler with fewer opcodes, and stand-ins for names."""

    # Defined in the standard library.
    stack: list[Any]
    metastack: list[list[Any]]
    memo: dict[int, Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]

    dispatch = _Steps({code: pickle._Unpickler.dispatch[code] for code in AS_THEY_ARE})

    def __init__(self, source: _BoundedFile) -> None:
        super().__init__(source)
        self.source = source
        self._made = 0
        self._values = 0

    def load(self) -> Any:  # noqa: ANN401 - data of any shape
        """Return what the pickle builds."""
        value = super().load()
        if self.stack or self.metastack:
            raise PickleRefused("an end inside an object")
        if self.source.left:
            raise PickleRefused(f"{self.source.left} bytes after the end")
        return self._plain(value, 0)

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a stand-in
        """Return the stand-in for a name."""
        text = f"{module}.{name}"
        known = text.replace("numpy._core.", "numpy.core.")  # NumPy 2's name
        if known not in NAMES:
            raise PickleRefused(f"the name {ascii(text)[1:-1][:200]}, which is not data")
        return NAMES[known]

    def _plain(self, value: object, depth: int) -> Any:  # noqa: ANN401 - as above
        """Return a copy without the unpickler's own types, except what is read on demand."""
        self._values += 1
        if depth > DEEPEST or self._values > MOST_VALUES:
            raise PickleRefused(f"more than {MOST_VALUES} values, or containers more than {DEEPEST} deep")
        match value:
            case OldString():
                return value.text
            case int() if value.bit_length() > 128:
                raise PickleRefused(f"a whole number of {value.bit_length()} bits")
            case None | int() | float() | str() | bytes():
                return value
            case dict():
                return {key: self._plain(item, depth + 1) for key, item in value.items()}
            case list():
                return [self._plain(item, depth + 1) for item in value]
            case tuple():
                return tuple(self._plain(item, depth + 1) for item in value)
            case PickledArray() if value.data is not None:
                return value
        raise PickleRefused("a name or an empty array where data is expected")

    def _decode_string(self, value: bytes) -> OldString:
        return OldString(value)

    def _string(self) -> None:
        line = self.source.readline(LARGEST_PIECE)[:-1]
        if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in {b"'", b'"'}:
            raise PickleRefused("a string without quotation marks")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes, which stay as they are
            self.append(OldString(codecs.escape_decode(line[1:-1])[0]))

    def _mark(self) -> None:
        # A container opens one mark at most, an array three more.
        if len(self.metastack) > 2 * DEEPEST:
            raise PickleRefused(f"containers more than {DEEPEST} deep")
        pickle._Unpickler.dispatch[pickle.MARK[0]](self)  # type: ignore[arg-type] # of its subclass in C

    def _build_dict(self) -> None:
        items = self.pop_mark()
        self.append(_dict(zip(items[::2], items[1::2], strict=True)))

    def _put(self) -> None:
        index = int(self.source.readline())
        if not 0 <= index <= LARGEST_KEY:
            raise PickleRefused("a memo index that is too large")
        self.memo[index] = self.stack[-1]

    def _reduce(self) -> None:
        arguments, call = self.stack.pop(), self.stack.pop()
        self.append(call(*arguments))
        self._made += sys.getsizeof(self.stack[-1])
        if self._made > MOST_MADE:
            raise PickleRefused(f"more than {MOST_MADE} bytes of texts and arrays")

    def _build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if not isinstance(target, NumberType | PickledArray):
            raise PickleRefused("a state for an object that has none")
        target.set_state(state)

    # Skip the length of a frame: its content is read like anything else.
    dispatch |= {
        pickle.FRAME[0]: lambda self: self.source.read(8),
        pickle.STRING[0]: _string,
        pickle.UNICODE[0]: lambda self: self.append(
            str(self.source.readline(LARGEST_PIECE)[:-1], "raw-unicode-escape")
        ),
        pickle.BYTEARRAY8[0]: lambda self: self.append(self.source.read(*struct.unpack("<Q", self.source.read(8)))),
        pickle.EMPTY_DICT[0]: lambda self: self.append(PlainDict()),
        pickle.MARK[0]: _mark,
        pickle.DICT[0]: _build_dict,
        pickle.PUT[0]: _put,
        pickle.REDUCE[0]: _reduce,
        pickle.BUILD[0]: _build,
    }
