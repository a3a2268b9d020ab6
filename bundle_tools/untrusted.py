"""Files that others have written: their kind and size are known before anything is read."""

import json
import stat
from pathlib import Path
from typing import Any

from bundle_tools.errors import BundleError

LARGEST = 64 << 20
"""Bytes of a text, unless its reader says otherwise."""


def read_text(path: Path, largest: int = LARGEST) -> str:
    """Read a text in UTF-8.

    Raises BundleError, which names the file, for anything but a file of at most `largest` bytes: a link, a pipe, a
    device or a folder, too; and for other bytes.
    """
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise BundleError(f"{path}: expected a file, found a folder, a link, a pipe or a device.")
        if state.st_size > largest:
            raise BundleError(f"{path}: expected at most {largest} bytes, found {state.st_size}.")
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise BundleError(f"{path}: expected a file, found: {(error.strerror or '').lower()}.") from error
    except UnicodeDecodeError as error:
        raise BundleError(f"{path}: expected a text in UTF-8, found {error.reason}.") from error


def read_json(path: Path, largest: int = LARGEST) -> Any:  # noqa: ANN401 - whatever the file holds
    """Read a JSON file, see `read_text`; brackets in brackets without end are refused, too."""
    try:
        return json.loads(read_text(path, largest))
    except (ValueError, RecursionError, MemoryError) as error:
        what = f"expected JSON, found {type(error).__name__} ({error!s:.100})"
        raise BundleError(f"{path}: {what}.") from error
