"""Memory that ingestion writes and the model process reads: frames reach the other process without being copied.

An anonymous file (memfd) is used rather than `multiprocessing.shared_memory`, because that lives in /dev/shm, which
is limited to 64 MB in the platform's containers, and going beyond kills the process.
"""

import fcntl
import mmap
import os
import sys
import tempfile

import numpy as np
import numpy.typing as npt

F_SEAL_FUTURE_WRITE = 0x0010
"""Python 3.11 has no name for it."""
LARGEST_BLOCK = 48 << 20
"""Bytes; blocks for very large frames have more."""
KEPT_FREE_BYTES = 48 << 20
"""Unused memory up to this size is kept for the next request."""
KEPT_FREE = 64
"""Most unused blocks that are kept; each takes a file descriptor."""


class FrameBuffer:
    """One block of memory."""

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        """Identifies the block in messages; never reused."""
        self.size = size
        """Bytes."""
        self.descriptor = _anonymous_file(size)
        """The file; -1 once it is closed."""
        self.inode = os.fstat(self.descriptor).st_ino
        """Identifies the file to the system."""
        self._bytes = np.frombuffer(mmap.mmap(self.descriptor, size), np.uint8)
        _seal(self.descriptor)

    def slot(self, number: int, shape: tuple[int, int, int]) -> npt.NDArray[np.uint8]:
        """Return slot `number` as a writable array of `shape`."""
        length = shape[0] * shape[1] * shape[2]
        return self._bytes[number * length : (number + 1) * length].reshape(shape)

    def close(self) -> None:
        """Close the file; its memory lives on as long as a process has it open or maps it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class BufferPool:
    """Hands out blocks and takes them back: fresh memory costs page faults, used memory does not."""

    def __init__(self) -> None:
        self._free: list[FrameBuffer] = []
        self._created = 0
        self.bytes_in_use = 0
        """Bytes of the blocks that are handed out."""
        self.sizes: dict[int, int] = {}
        """Bytes of every block of the current model, even if released, by inode."""

    def take(self, size: int) -> FrameBuffer:
        """Return a block of `size` bytes."""
        self.bytes_in_use += size
        for buffer in self._free:
            if buffer.size == size:
                self._free.remove(buffer)
                return buffer
        self._created += 1
        buffer = FrameBuffer(self._created, size)
        self.sizes[buffer.inode] = size
        return buffer

    def forget(self) -> None:
        """Release all unused blocks: their content was meant for a model that has ended."""
        for buffer in self._free:
            buffer.close()
        self._free = []
        self.sizes.clear()

    def give_back(self, buffer: FrameBuffer, *, reusable: bool) -> list[int]:
        """Take `buffer` back; return the numbers of blocks that were released for good.

        A block that the model still maps cannot be reused: its content must not change.
        """
        self.bytes_in_use -= buffer.size
        if reusable:
            self._free.append(buffer)
        gone = [] if reusable else [buffer]
        while len(self._free) > KEPT_FREE or (
            len(self._free) > 1 and sum(free.size for free in self._free) > KEPT_FREE_BYTES
        ):
            gone.append(self._free.pop(0))
        for old in gone:
            old.close()
        return [old.number for old in gone]


def _anonymous_file(size: int) -> int:
    if sys.platform == "linux":
        descriptor = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


def _seal(descriptor: int) -> None:
    """Forbid all others to write into the block or resize it: a shrunk one would kill ingestion with SIGBUS.

    The mapping that ingestion has already stays writable; every later one is read-only for good.
    """
    if sys.platform == "linux":
        size = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        try:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, size | F_SEAL_FUTURE_WRITE)
        except OSError:
            # Linux before 5.1.
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, size)
