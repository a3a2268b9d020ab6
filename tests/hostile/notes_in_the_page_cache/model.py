# ruff: noqa
# mypy: ignore-errors
import ctypes
import mmap
import os

import numpy as np
from honest import Honest, kernel, must_fail

MINCORE, MADVISE, READAHEAD, CACHESTAT = 27, 28, 187, 451
COLD, PAGEOUT = 20, 21


class Model(Honest):
    def in_predict(self, clip, answer):
        file = os.open(self.assets / "model.py", os.O_RDONLY)
        memory = np.frombuffer(mmap.mmap(file, 0, prot=mmap.PROT_READ), "u1")
        address = memory.__array_interface__["data"][0]
        told = ctypes.create_string_buffer(64)
        # To read the note.
        must_fail(lambda: kernel(CACHESTAT, file, bytes(16), told, 0))
        must_fail(lambda: kernel(MINCORE, address, 1, told))
        must_fail(lambda: os.preadv(file, [bytearray(9)], 0, os.RWF_NOWAIT))
        # To write it, or to wipe it out.
        must_fail(lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED))
        must_fail(lambda: kernel(READAHEAD, file, 0, 4096))
        must_fail(lambda: kernel(MADVISE, address, 4096, COLD))
        must_fail(lambda: kernel(MADVISE, address, 4096, PAGEOUT))
        return answer
