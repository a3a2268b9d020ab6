"""What a model could change about a file without being allowed to: content and time, and all that lies beside them."""

import hashlib
import os
import stat
from array import array
from pathlib import Path

GET_FLAGS = 0x80086601
"""FS_IOC_GETFLAGS: append-only, no dump, no time of reading, ..."""


def of(path: Path) -> str:
    """Return kind, mode and attributes of a path; of a file also its time, content, flags and hidden room."""
    status = path.lstat()
    parts = [f"{status.st_mode:o}", *_attributes(path)]
    if stat.S_ISREG(status.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        parts += [str(status.st_mtime_ns), content, _flags(path), f"{hidden_mb(status)} MB"]
    return " ".join(parts)


def hidden_mb(status: os.stat_result) -> int:
    """Return how many MB a file takes on the disk beyond its length; the last few blocks are the file system's own."""
    return max(0, status.st_blocks * 512 - status.st_size) >> 20


def _attributes(path: Path) -> list[str]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return [f"{name}={os.getxattr(path, name, follow_symlinks=False)!r}" for name in sorted(names)]
    except (OSError, AttributeError):
        # Neither this file system nor this system has to have them.
        return []


def _flags(path: Path) -> str:
    try:
        from fcntl import ioctl  # noqa: PLC0415 - Unix only

        word = array("L", [0])
        with path.open("rb") as file:
            ioctl(file, GET_FLAGS, word)
    except (OSError, ImportError):
        return "-"
    return f"{word[0] & 0xFFFFFFFF:x}"
