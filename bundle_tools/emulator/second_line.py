"""Which limits of the machine stand behind the model's own walls, and which are missing."""

import os
from collections.abc import Mapping
from pathlib import Path

from bundle_tools.ingestion_program import use_own_ingestion_program

USUAL_SHARED_MEMORY_MB = 64
HOST_DIRECTORY = Path("/codabench")
"""Where docs/operator.md puts the worker's folders."""


def missing(seen: Mapping[str, object]) -> list[str]:
    """Put into words what is missing; of a limit that was not looked for nothing is said.

    Parameters
    ----------
    seen
        `container` of a `run.json`, or what `from_outside` gives; it need not be what it should be.
    """
    found = []
    if seen.get("memory_mb", 0) is None:
        found.append("memory has no limit: MemoryMax and MemorySwapMax in the slice of the Docker engine.")
    if seen.get("processes", 0) is None:
        found.append("processes have no limit: TasksMax in the slice of the Docker engine.")
    if seen.get("own_disk") is False:
        found.append(
            "containers write to the machine's own disk: a disk, or a file with a file system, for them alone."
        )
    if seen.get("network") is True:
        found.append("the network is on: COMPETITION_CONTAINER_NETWORK_DISABLED=True in the worker's .env.")
    if seen.get("shared_memory_mb") not in (None, USUAL_SHARED_MEMORY_MB):
        found.append(f"shared memory is not {USUAL_SHARED_MEMORY_MB} MB: no default-shm-size in daemon.json.")
    return found


def from_outside(pid: str, container: str, proc: Path = Path("/proc"), top: Path = Path("/")) -> dict[str, object]:
    """Look at a running container from the machine around it, where limits of a slice are seen too.

    Parameters
    ----------
    pid
        Of its first process.
    container
        Its id.
    top
        Where the machine's file system begins.

    Returns
    -------
    dict
        Empty where the container runs on another machine, or in a virtual one.
    """
    use_own_ingestion_program()
    from ingest.confined.container import limits  # noqa: PLC0415 - the path is known only now

    try:
        if container not in (proc / pid / "cgroup").read_text("utf-8"):
            return {}
        mounts = (proc / pid / "mountinfo").read_text("utf-8", "replace")
    except OSError:
        return {}
    seen: dict[str, object] = dict(limits(pid, proc, top / "sys/fs/cgroup"))
    places = [HOST_DIRECTORY] if HOST_DIRECTORY.is_dir() else []
    # Of gVisor the machine sees another root than the one the container writes to.
    if any(line.split()[4] == "/" and " - overlay " in line for line in mounts.splitlines()):
        places.append(proc / pid / "root")
    if places:
        # A file system of its own and a quota both show as another size.
        seen["own_disk"] = all(_size(place) != _size(top) for place in places)
    return seen


def _size(place: Path) -> int:
    system = os.statvfs(place)
    return system.f_blocks * system.f_frsize
