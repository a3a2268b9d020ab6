# ruff: noqa
# mypy: ignore-errors
import mmap

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        kept = []
        for _ in range(40):
            kept.append(mmap.mmap(-1, 64 << 20))
            for offset in range(0, 64 << 20, 4096):
                kept[-1][offset] = 1
            # It leaves the process, and stays in memory.
            kept[-1].madvise(mmap.MADV_DONTNEED)
        raise Escaped("2.5 GB of memory")
