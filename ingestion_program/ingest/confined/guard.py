"""Protect ingestion and the machine: no process may inspect ingestion or outlive it."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from ingest.confined import container
from model_process.sandbox import kernel

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a system folder, inspected and cleaned


def harden_process() -> None:
    """Keep other processes of this user from reading this one's memory, and adopt orphaned descendants."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def end_descendants(spared: Collection[int] = ()) -> None:
    """End all descendants of this process except those `spared`.

    Killing a process makes its children ours, so this repeats until none is left. Helpers of this program are in its
    session, which no confined process can join.
    """
    if sys.platform != "linux":
        return
    while children := _children(os.getpid()) - set(spared):
        for pid in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def remove(folder: Path) -> None:
    """Remove a folder and everything a model put there, however deeply nested and whatever its permissions."""
    take_back(folder)
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # Nested more deeply than Python can follow.
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.PIPE)  # noqa: S603, S607 - our own folder, the system's rm


def take_back(folder: Path) -> None:
    """Give this user full access to a folder and all folders in it, as far as this user owns them."""
    waiting = [str(folder)]  # strings, since `Path` would split long names into parts
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):  # a failure shows up later, when removal fails
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | stat.S_IRWXU)  # noqa: PTH101
            waiting += [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]


def shared_files() -> set[Path]:
    """Return the paths of all files in the machine's shared memory."""
    return set(SHARED_MEMORY.iterdir()) if SHARED_MEMORY.is_dir() else set()


def sweep_shared_files(before: set[Path], living: Collection[int] = ()) -> None:
    """Remove what a model left in the machine's shared memory, except files that `living` processes have open.

    This happens only in a container of our own: elsewhere other programs use that memory too.
    """
    if not container.is_our_own():
        return
    held = {path for pid in living for path in _held(pid)}
    for path in shared_files() - before - held:
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def _held(pid: int) -> set[Path]:
    """Return the files that a process has open or mapped."""
    links: list[Path] = []
    for folder in ("fd", "map_files"):
        with contextlib.suppress(OSError):
            links += Path(f"/proc/{pid}/{folder}").iterdir()
    found = set()
    for link in links:
        with contextlib.suppress(OSError):
            found.add(link.readlink())
    return found


def _children(parent: int) -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        # A process name may contain spaces and brackets; state, parent, group and session follow the last bracket.
        with contextlib.suppress(OSError, ValueError, IndexError):
            _, its_parent, _, session, *_ = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_parent) == parent and int(session) != os.getsid(0):
                found.add(int(path.parent.name))
    return found
