"""The second line of defence: the container's own limits, which hold whatever the model's sandbox does."""

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
    """Return the limits visible from inside, for `run.json`; docs/output_format.md explains them."""
    return {
        **limits(),
        "disk_mb": _size_mb(tempfile.gettempdir),
        "shared_memory_mb": _size_mb(lambda: "/dev/shm"),  # noqa: S108 - its size is what we report
        "network": _has_route(),
    }


def is_our_own() -> bool:
    """Tell whether this container is ours alone: then we are its first process."""
    return os.getpid() == 1


def limits(proc: Path = PROC, groups: Path = GROUPS) -> dict[str, int | None]:
    """Return the limits on memory (including swap) and on processes for this process's control group.

    A limit may be set on the control group or on any of its ancestors; the lowest one applies. Inside a container, the
    ancestors are usually not visible.

    Returns "memory_mb" in units of 2**20 bytes, and "processes"; None if no limit is visible.
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
    """Return the lowest limit in a control group and its ancestors, version 1 or 2.

    `own` is the text of `/proc/PID/cgroup`.
    """
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
    """Tell whether there is a network route out; None if the system does not say."""
    if not (PROC / "net/route").is_file():
        return None
    ways = _text(PROC / "net/route").splitlines()[1:] + _text(PROC / "net/ipv6_route").splitlines()
    # Lines for IPv4 begin with the interface, lines for IPv6 end with it.
    return any("lo" not in (way.split()[0], way.split()[-1]) for way in ways)


def _size_mb(folder: Callable[[], str]) -> int | None:
    try:
        system = os.statvfs(folder())
    except OSError:  # also raised if no folder for temporary files is writable
        return None
    return system.f_blocks * system.f_frsize // MB


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
