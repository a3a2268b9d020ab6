# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        kept = []
        for number in range(6):
            kept.append(open(f"{number}", "wb"))
            os.unlink(f"{number}")
            for _ in range(60):
                kept[-1].write(bytes(1 << 20))
            kept[-1].flush()
        time.sleep(1)
        raise Escaped("360 MB")
