# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        block = bytes(16 << 20)
        kept = []
        for _ in range(28):
            kept.append(os.memfd_create("hog"))
            for _ in range(3):
                os.write(kept[-1], block)
        time.sleep(1)
        raise Escaped("1.3 GB of memory")
