"""The second line: what the container allows, whatever the model's own sandbox does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")
MB = 1024 * 1024
# Version 1 of control groups writes "no limit" as a number near the largest one.
NO_LIMIT = 2**60


def container() -> dict[str, int | bool | None]:
    """Give the limits that are seen from inside, for `run.json`; docs/output_format.md explains them."""
    return {
        **limits(),
        "disk_mb": _size_mb(tempfile.gettempdir),
        "shared_memory_mb": _size_mb(lambda: "/dev/shm"),  # noqa: S108 - it is what is asked about
        "network": _has_route(),
    }


def is_our_own() -> bool:
    """Tell whether nobody else runs in this container: we are its first process."""
    return os.getpid() == 1


def limits(proc: Path = PROC, groups: Path = GROUPS) -> dict[str, int | None]:
    """Give the memory (with swap) and the number of processes that this process and its like may have together.

    A limit may be set on its control group or on any group around it: the least one holds. Inside a container the
    groups around it are mostly out of sight.

    Returns
    -------
    dict
        "memory_mb" in units of 2**20 bytes, and "processes"; None where there is no limit in sight.
    """
    own = _text(proc / "self" / "cgroup")
    memory = _least(own, groups, "memory", "memory.max", "memory.limit_in_bytes")
    if memory is not None:
        swap = [int(line.split()[1]) * 1024 for line in _text(proc / "meminfo").splitlines() if "SwapTotal:" in line]
        limit = _least(own, groups, "memory", "memory.swap.max")
        both = _least(own, groups, "memory", "memory.memsw.limit_in_bytes")
        memory += min([*swap, *([] if limit is None else [limit])], default=0)
        memory = memory if both is None else min(memory, both)
    return {
        "memory_mb": None if memory is None else memory // MB,
        "processes": _least(own, groups, "pids", "pids.max"),
    }


def _least(own: str, groups: Path, controller: str, *names: str) -> int | None:
    """Read files of a control group, and of all around it, by what `/proc/PID/cgroup` says; version 1 and 2."""
    found = []
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = groups / controller if controllers else groups
        group = top / path.lstrip("/")
        for place in (group, *group.parents):
            if place.is_relative_to(top):
                found += [int(text) for name in names if (text := _text(place / name).strip()).isdecimal()]
    return min((limit for limit in found if limit < NO_LIMIT), default=None)


def _has_route() -> bool | None:
    """Tell whether packets can leave; None where the system does not say."""
    if not (PROC / "net/route").is_file():
        return None
    ways = _text(PROC / "net/route").splitlines()[1:] + _text(PROC / "net/ipv6_route").splitlines()
    # IPv4 begins with the interface, IPv6 ends with it.
    return any("lo" not in (way.split()[0], way.split()[-1]) for way in ways)


def _size_mb(folder: Callable[[], str]) -> int | None:
    try:
        system = os.statvfs(folder())
    except OSError:  # also where no folder for temporary files can be written
        return None
    return system.f_blocks * system.f_frsize // MB


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
