"""Read pickles of plain data without ever unpickling them: unpickling a stranger's file runs a stranger's code.

A pickle is a program for a small stack machine. Here is such a machine that only knows how to make data: it imports
nothing, calls nothing that a file names, and rebuilds arrays from their bytes itself. Protocols 0 to 5, as Python 2 and
Python 3 write them. Why not `pickle.Unpickler` with a list of allowed names: NumPy's own functions believe what a
pickle tells them, and a few forged bytes are enough to crash the process or worse.
"""

import io
from pathlib import Path
from typing import Any

from ingest.legacy.pickles.limits import Limits
from ingest.legacy.pickles.machine import Machine
from ingest.legacy.pickles.plain import plain
from ingest.legacy.pickles.refusal import PickleRefused
from ingest.legacy.pickles.source import Source, Stored
from ingest.legacy.pickles.values import StoredArray

__all__ = ["Limits", "PickleRefused", "Stored", "StoredArray", "open_pickle", "read_pickle"]

IN_THE_FILE = 64 << 10
"""Texts and arrays of more bytes stay in the file until they are asked for."""


def read_pickle(data: bytes, limits: Limits | None = None) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return the data of a pickle: dict, list, tuple, str, bytes, int, float, bool, None and NumPy arrays.

    NumPy scalars become Python numbers, ordered dicts plain ones, and texts of Python 2 `str` (UTF-8, else Latin-1).

    Raises
    ------
    PickleRefused
        When it is no pickle, holds anything but data, or goes beyond `limits`.
    """
    return _read(Source(io.BytesIO(data), len(data), limits or Limits(), keep=len(data)))


def open_pickle(path: Path, limits: Limits | None = None) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return the data of a pickle file, where long texts and large arrays are `Stored` and `StoredArray`.

    Those are read from the file when they are asked for, so a file of hundreds of megabytes costs little memory.

    Raises
    ------
    PickleRefused
        As for `read_pickle`.
    """
    file = path.open("rb")  # stays open as long as something of it can be asked for
    try:
        return _read(Source(file, path.stat().st_size, limits or Limits(), keep=IN_THE_FILE))
    except PickleRefused:
        file.close()
        raise


def _read(source: Source) -> Any:  # noqa: ANN401 - as above
    source.refuse_other_files()
    return plain(Machine(source).run(), source.limits)
