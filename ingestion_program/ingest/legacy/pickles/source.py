"""The bytes of a pickle, read in order; every length is checked before anything is allocated for it."""

import codecs
import warnings
from dataclasses import dataclass
from typing import BinaryIO, Literal

from ingest.legacy.pickles.limits import Limits
from ingest.legacy.pickles.refusal import PickleRefused

Form = Literal["bytes", "string", "quoted", "text", "escaped"]
"""How a text or its bytes are written: raw bytes; a raw `str` of Python 2; one in quotation marks with escapes; text in
UTF-8; text in raw Unicode escapes."""
LONGEST_WORD = 512
"""Bytes of a number or a name that is written as a line."""
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


class OldString(bytes):
    """A `str` of Python 2: text or bytes, depending on what is done with it."""

    def text(self) -> str:
        """Return it as text: UTF-8 if it can be that, else Latin-1."""
        try:
            return self.decode("utf-8")
        except UnicodeDecodeError:
            return self.decode("latin-1")


class Source:
    """A file that is read from its beginning, and later at the places that were put off."""

    def __init__(self, file: BinaryIO, size: int, limits: Limits, keep: int) -> None:
        if size > limits.file_bytes:
            raise PickleRefused(f"a file of {size} bytes; at most {limits.file_bytes} are read")
        self._file = file
        self._size = size
        self._keep = keep
        self._kept = 0
        self.limits = limits
        self.position = 0
        """Bytes read so far."""

    @property
    def left(self) -> int:
        """Bytes that are not read yet."""
        return self._size - self.position

    def refuse_other_files(self) -> None:
        """Say what a file is that is no pickle at all."""
        start = self._file.read(max(map(len, KNOWN_FILES)))
        self._file.seek(0)
        if not start:
            raise PickleRefused("an empty file")
        for mark, name in KNOWN_FILES.items():
            if start.startswith(mark):
                raise PickleRefused(f"{name}, not a pickle")

    def take(self, count: int) -> bytes:
        """Read `count` bytes, a number of the file or an opcode."""
        data = self._file.read(count)
        if len(data) < count:
            raise PickleRefused("a file that ends too early")
        self.position += count
        return data

    def word(self) -> str:
        """Read a number or a name that ends with its line."""
        line = self._line(LONGEST_WORD)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            raise PickleRefused("a name that is not text") from None

    def piece(self, length: int, form: Form) -> "str | bytes | Stored":
        """Read a text or bytes of a known length, or put that off where it is long."""
        if length > self.left:
            raise PickleRefused(f"a length of {length} bytes where {self.left} are left")
        if length > self._keep:
            offset = self.position
            self.position += length
            self._file.seek(self.position)
            return self._put_off(offset, length, form)
        return self._decoded(self.take(length), form)

    def line_piece(self, form: Form) -> "str | bytes | Stored":
        """Read a text or bytes that end with their line, or put that off where they are long."""
        offset = self.position
        line = self._line(4 * self.limits.array_bytes)  # an escaped byte takes up to four characters
        return self._put_off(offset, len(line), form) if len(line) > self._keep else self._decoded(line, form)

    def read_again(self, offset: int, length: int) -> bytes:
        """Return bytes that were put off; only when the whole pickle has been read."""
        self._file.seek(offset)
        return self._file.read(length)

    def _line(self, longest: int) -> bytes:
        line = self._file.readline(longest + 1)
        if not line.endswith(b"\n"):
            raise PickleRefused("a line that is too long" if len(line) > longest else "a file that ends too early")
        self.position += len(line)
        return line[:-1]

    def _put_off(self, offset: int, length: int, form: Form) -> "Stored":
        if length > 4 * self.limits.array_bytes:
            raise PickleRefused(f"a text or an array of {length} bytes")
        return Stored(self, offset, length, form)

    def _decoded(self, data: bytes, form: Form) -> str | bytes:
        self._kept += len(data)
        if self._kept > self.limits.kept_bytes:
            raise PickleRefused(f"more than {self.limits.kept_bytes} bytes of texts and arrays")
        return decode(data, form)


@dataclass(frozen=True)
class Stored:
    """A long text, or bytes, still in the file."""

    source: Source
    """The file."""
    offset: int
    """Where it begins, bytes."""
    length: int
    """How much it takes there, bytes."""
    form: Form
    """How it is written."""
    as_latin1: bool = False
    """Whether it is a text that stands for bytes, one a character."""

    def read(self) -> str | bytes:
        """Return the text, the bytes, or the string of Python 2.

        Raises
        ------
        PickleRefused
            When it is not what its form says.
        """
        value = decode(self.source.read_again(self.offset, self.length), self.form)
        return latin1(value) if self.as_latin1 and isinstance(value, str) else value


def decode(data: bytes, form: Form) -> str | bytes:
    """Return what `data` stands for.

    Raises
    ------
    PickleRefused
        When it is not what its form says.
    """
    try:
        match form:
            case "bytes":
                return data
            case "string":
                return OldString(data)
            case "quoted":
                if len(data) < 2 or data[:1] != data[-1:] or data[:1] not in {b"'", b'"'}:
                    raise PickleRefused("a string without quotation marks")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of escapes that mean nothing: they stay as they are
                    return OldString(codecs.escape_decode(data[1:-1])[0])
            case "text":
                return data.decode("utf-8", "surrogatepass")
            case "escaped":
                return data.decode("raw-unicode-escape")
    except ValueError as error:
        raise PickleRefused(f"a text that cannot be decoded ({type(error).__name__})") from None


def latin1(text: str) -> bytes:
    """Return the bytes that a text stands for, one a character."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise PickleRefused("bytes written as text that is not Latin-1") from None
