"""Files that others have written: their kind and size are known before anything is read."""

import json
import re
import stat
from pathlib import Path, PurePosixPath
from typing import Any

from bundle_tools.errors import BundleError

LARGEST = 64 << 20
"""Bytes of a text, unless its reader says otherwise."""
START = 1024
"""Bytes at the start of a file that tell whether it only stands for another."""
_PAGES = r".*\.(html?|md)"
_MAY_BE_EMPTY = r"\..*|.*\.(py|pyi|typed|md|txt|cfg|toml|lock)"
_PLACEHOLDERS = (
    (rb"version https://git-lfs\.github\.com/spec/.*", "", "a Git LFS pointer", "run `git lfs pull`"),
    (rb"(\xef\xbb\xbf)?\s*<(!doctype )?html.*", _PAGES, "a web page", "get the file itself: its address led to a page"),
    (rb"\0*", _MAY_BE_EMPTY, "a file without content", "copy it again, once a cloud folder has downloaded it"),
)
"""How such a file begins, the names of files that may begin so, what it is, and what helps."""


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


def placeholder(name: str, start: bytes) -> tuple[str, str] | None:
    """Return what a file is that only stands for another, and what helps; None for any other file.

    `start`: its first `START` bytes.
    """
    file = PurePosixPath(name).name
    if re.fullmatch(r"\..+\.icloud", file):
        return "a placeholder of iCloud", "download it on the computer that shares it"
    for pattern, names, what, fix in _PLACEHOLDERS:
        if re.fullmatch(pattern, start, re.DOTALL | re.IGNORECASE) and not re.fullmatch(names, file, re.IGNORECASE):
            return what, fix
    return None
