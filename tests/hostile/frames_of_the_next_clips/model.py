# ruff: noqa
# mypy: ignore-errors
import mmap
import os

from honest import Escaped, Honest


class Model(Honest):
    def in_load(self):
        self.kept = []
        self.close = os.close
        os.close = self.kept.append
        self.maps = []

    def in_predict(self, clip, answer):
        for descriptor in self.kept:
            try:
                size = os.fstat(descriptor).st_size
                mmap.mmap(descriptor, size, prot=mmap.PROT_READ | mmap.PROT_WRITE)
            except (OSError, ValueError):
                continue
            if size:
                raise Escaped("memory of frames, writable")
        return answer
