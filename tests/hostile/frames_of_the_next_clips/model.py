# ruff: noqa
# mypy: ignore-errors
import mmap
import os
import time

import numpy as np
from honest import Escaped, Honest


class Model(Honest):
    def in_load(self):
        self.kept = []
        self.close = os.close
        os.close = self.kept.append
        self.shown = set()

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

    def predict(self, clip):
        answer = super().predict(clip)
        self.shown |= {frame.tobytes() for frame in clip.frames(count=3, size=(32, 24))}
        time.sleep(0.2)  # what is asked for clip after clip is decoded ahead now
        length = 24 * 32 * 3
        for descriptor in self.kept:
            try:
                memory = mmap.mmap(descriptor, 3 * length, prot=mmap.PROT_READ)
            except (OSError, ValueError):
                continue
            slots = {bytes(slot) for slot in np.split(np.frombuffer(memory, "u1"), 3)}
            if os.fstat(descriptor).st_size == 3 * length and slots - self.shown:
                raise Escaped("a frame that nobody has shown yet")
        return answer
