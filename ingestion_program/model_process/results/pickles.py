"""Read pickles of plain data without unpickling them: unpickling an untrusted file runs untrusted code.

A pickle is a program for a small stack machine. This is the standard library's machine, in its Python version, with
only the opcodes that make data. A name in the file is never imported: it is replaced by one of our `stand_ins`, which
hold data, or refused. A list of allowed names would not be enough: NumPy's own functions trust what a pickle tells
them, and a few forged bytes can crash the process or worse. Reads protocols 0 to 5, as written by Python 2 and 3.
"""

import codecs
import io
import pickle
import pickletools
import struct
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from model_process.results import stand_ins
from model_process.results.stand_ins import OldString, PickleRefused, Stored, StoredArray, Table

__all__ = ["PickleRefused", "Stored", "StoredArray", "read_pickle"]

Decode = Callable[[bytes], Any]
"""Decodes the bytes of a text or of data."""
IN_THE_FILE = 64 << 10
"""Larger texts and arrays stay in the file until they are needed, bytes."""
MOST_BYTES = 1 << 30
"""The largest file. Explanations of 2,000 clips with pictures of 200 x 355 take 426 MB."""
MOST_READS = 8_000_000
"""The most opcodes and arguments. Predictions of 6 targets for 6,000 clips take up to 700,000."""
MOST_KEPT = 512 << 20
"""The most bytes of texts and arrays in memory, including what stand-ins make: a pickle can convert one text to bytes a
million times."""
MOST_VALUES = 2_000_000
"""The most values in the result, counting repeated ones each time: ten nested lists can hold billions."""
DEEPEST = 64
"""The deepest nesting of containers; it also stops on containers that contain themselves."""
LARGEST_PIECE = 4 * stand_ins.LARGEST_ARRAY
"""The most bytes of a text or an array in the file: an escaped byte takes up to four characters."""
LONGEST_WORD = 512
"""The most bytes of a number or a name written as a line, and of anything else read at once."""
MOST_BITS = 128
"""The most bits of an integer."""
KNOWN_FILES = {
    b"PK\x03\x04": "a zip file",
    b"\x93NUMPY": "a NumPy file (.npy)",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "a compressed file (gzip)",
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x89PNG": "a PNG picture",
    b"<": "HTML or XML",
    b"{": "text, perhaps JSON",
}


def read_pickle(source: bytes | Path) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return the data of a pickle: dict, list, tuple, str, bytes, int, float, bool, None and NumPy arrays.

    NumPy scalars become Python numbers, ordered dicts plain dicts, and Python 2 strings `str` (UTF-8, else Latin-1).
    From a file, long texts and large arrays are returned as `Stored` and `StoredArray`, which read their data on
    demand, so hundreds of megabytes cost little memory.

    Raises PickleRefused when it is not a pickle, contains anything but data, or exceeds a limit.
    """
    file: BinaryIO
    if isinstance(source, bytes):
        file, keep = io.BytesIO(source), len(source)
    else:
        file, keep = source.open("rb"), IN_THE_FILE  # stays open while parts of it can be read
    try:
        return _Machine(_Source(file, keep)).load()
    except Exception as error:  # noqa: BLE001 - whatever an opcode raises is the file's fault
        said = (
            str(error)
            if isinstance(error, PickleRefused)
            else f"an instruction that fails: {type(error).__name__}: {error}"
        )
        position = file.tell()
        file.close()
        raise PickleRefused(f"{ascii(said)[1:-1][:300]}, at byte {position}") from None


class _Source:
    """The file as the machine reads it; every length is checked before memory is allocated."""

    def __init__(self, file: BinaryIO, keep: int) -> None:
        self.file = file
        self._keep = keep
        self._reads = 0
        self._kept = 0
        self._size = file.seek(0, io.SEEK_END)
        file.seek(0)
        start = file.read(max(map(len, KNOWN_FILES)))
        file.seek(0)
        for mark, name in KNOWN_FILES.items():
            if start.startswith(mark):
                raise PickleRefused(f"{name}, not a pickle")
        if self._size > MOST_BYTES:
            raise PickleRefused(f"a file of {self._size} bytes; at most {MOST_BYTES} are read")

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self._size - self.file.tell()

    def read(self, count: int) -> bytes:
        """Read an opcode or a small argument."""
        self._reads += 1
        if self._reads > MOST_READS:
            raise PickleRefused(f"more than {MOST_READS} instructions and arguments")
        data = self.file.read(count) if count <= LONGEST_WORD else b""
        if len(data) < count:
            raise PickleRefused("a file that ends too early")
        return data

    def readline(self, longest: int = LONGEST_WORD) -> bytes:
        """Read a number or a name up to the end of its line."""
        line = self.file.readline(longest + 1)
        if not line.endswith(b"\n"):
            raise PickleRefused("a line that is too long" if len(line) > longest else "a file that ends too early")
        return line

    def count(self, size: int) -> None:
        """Count bytes that will be held in memory."""
        self._kept += size
        if self._kept > MOST_KEPT:
            raise PickleRefused(f"more than {MOST_KEPT} bytes of texts and arrays")

    def piece(self, length: int, decode: Decode) -> Any:  # noqa: ANN401 - what `decode` makes
        """Read a text or bytes of a known length; a long one stays in the file."""
        left = self.left
        if not 0 <= length <= min(left, LARGEST_PIECE):
            raise PickleRefused(f"a length of {length} bytes where only {left} remain")
        if length <= self._keep:
            self.count(length)
            return decode(self.file.read(length))
        stored = Stored(self.file, self.file.tell(), length, decode)
        self.file.seek(length, io.SEEK_CUR)
        return stored

    def line(self, decode: Decode) -> Any:  # noqa: ANN401 - as above
        """Read a text or bytes up to the end of the line; a long one stays in the file."""
        length = len(self.readline(LARGEST_PIECE))
        self.file.seek(-length, io.SEEK_CUR)
        piece = self.piece(length - 1, decode)
        self.file.seek(1, io.SEEK_CUR)
        return piece


def _unquoted(data: bytes) -> OldString:
    if len(data) < 2 or data[:1] != data[-1:] or data[:1] not in {b"'", b'"'}:
        raise PickleRefused("a string without quotation marks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about invalid escapes, which stay as they are
        return OldString(codecs.escape_decode(data[1:-1])[0])


_utf8 = partial(str, encoding="utf-8", errors="surrogatepass")
_unescaped = partial(str, encoding="raw-unicode-escape")


def _step(form: str, decode: Decode) -> Callable[["_Machine"], None]:
    """Return an opcode's function that reads a length, and then that many bytes of a text or of data."""
    size = struct.calcsize(form)

    def read(machine: "_Machine") -> None:
        (length,) = struct.unpack(form, machine.source.read(size))
        machine.stack.append(machine.source.piece(length, decode))

    return read


def _dict(machine: "_Machine") -> None:
    items = machine.pop_mark()
    machine.stack.append(Table.of(zip(items[::2], items[1::2], strict=True)))


def _remember(machine: "_Machine") -> None:
    place = int(machine.source.readline())
    if not 0 <= place <= stand_ins.LARGEST_KEY:
        raise PickleRefused("a memo index that is too large")
    machine.memo[place] = machine.stack[-1]


def _reduce(machine: "_Machine") -> None:
    arguments, call = machine.stack.pop(), machine.stack.pop()
    machine.stack.append(call(*arguments))
    machine.source.count(sys.getsizeof(machine.stack[-1]))


def _build(machine: "_Machine") -> None:
    state, target = machine.stack.pop(), machine.stack[-1]
    if not isinstance(target, stand_ins.NumberType | StoredArray):
        raise PickleRefused("a state for an object that has none")
    target.complete(state)


class _Steps(dict[int, Callable[[Any], None]]):
    """The function of each opcode; any other opcode is refused by name."""

    def __missing__(self, code: int) -> Callable[[Any], None]:
        names = [info.name for info in pickletools.opcodes if ord(info.code) == code]
        raise PickleRefused(
            f"the step {names[0]}, which plain data does not need"
            if names
            else f"the byte {bytes([code])!r}, which is no instruction"
        )


AS_THEY_ARE = b"".join((
    pickle.PROTO, pickle.MARK, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.INT, pickle.LONG, pickle.LONG1,
    pickle.FLOAT, pickle.BINFLOAT, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.EMPTY_LIST, pickle.LIST,
    pickle.APPEND, pickle.APPENDS, pickle.SETITEM, pickle.SETITEMS, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1,
    pickle.TUPLE2, pickle.TUPLE3, pickle.GET, pickle.BINGET, pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT,
    pickle.MEMOIZE, pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.STOP,
))  # fmt: skip
"""Opcodes of the standard library that allocate no more than they read, and call nothing."""


class _Machine(pickle._Unpickler):
    """The standard library's machine, with fewer opcodes, and tables in place of dicts."""

    # Defined in the standard library.
    stack: list[Any]
    metastack: list[list[Any]]
    memo: dict[int, Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]

    source: _Source
    dispatch = _Steps({code: pickle._Unpickler.dispatch[code] for code in AS_THEY_ARE})
    dispatch |= {
        # Skip the frame's length: its content is read like anything else.
        pickle.FRAME[0]: lambda machine: machine.source.read(8),
        pickle.STRING[0]: lambda machine: machine.append(machine.source.line(_unquoted)),
        pickle.UNICODE[0]: lambda machine: machine.append(machine.source.line(_unescaped)),
        pickle.SHORT_BINSTRING[0]: _step("<B", OldString),
        pickle.BINSTRING[0]: _step("<i", OldString),
        pickle.SHORT_BINUNICODE[0]: _step("<B", _utf8),
        pickle.BINUNICODE[0]: _step("<I", _utf8),
        pickle.BINUNICODE8[0]: _step("<Q", _utf8),
        pickle.SHORT_BINBYTES[0]: _step("<B", bytes),
        pickle.BINBYTES[0]: _step("<I", bytes),
        pickle.BINBYTES8[0]: _step("<Q", bytes),
        pickle.BYTEARRAY8[0]: _step("<Q", bytes),
        pickle.EMPTY_DICT[0]: lambda machine: machine.append(Table()),
        pickle.DICT[0]: _dict,
        pickle.PUT[0]: _remember,
        pickle.REDUCE[0]: _reduce,
        pickle.BUILD[0]: _build,
    }

    def __init__(self, source: _Source) -> None:
        super().__init__(source)
        self.source = source
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
        if known not in stand_ins.NAMES:
            raise PickleRefused(f"the name {ascii(text)[1:-1][:200]}, which is not data")
        return stand_ins.NAMES[known]

    def _plain(self, value: object, depth: int) -> Any:  # noqa: ANN401 - as above
        """Return a copy without the machine's own types, except data that are still in the file."""
        self._values += 1
        if depth > DEEPEST or self._values > MOST_VALUES:
            raise PickleRefused(f"more than {MOST_VALUES} values, or containers more than {DEEPEST} deep")
        match value:
            case OldString():
                return value.text()
            case int() if value.bit_length() > MOST_BITS:
                raise PickleRefused(f"a whole number of {value.bit_length()} bits")
            case None | int() | float() | str() | bytes() | Stored():
                return value
            case dict():
                return {key: self._plain(item, depth + 1) for key, item in value.items()}
            case list():
                return [self._plain(item, depth + 1) for item in value]
            case tuple():
                return tuple(self._plain(item, depth + 1) for item in value)
            case StoredArray() if value.data is not None:
                if isinstance(value.data, Stored):
                    return value
                self.source.count(len(value.data))
                return value.read()
        raise PickleRefused("a name or an empty array where data is expected")
