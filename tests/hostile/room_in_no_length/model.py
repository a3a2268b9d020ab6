# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, kernel, must_fail

FALLOCATE, KEEP_SIZE, ZERO_RANGE, UNSHARE = 285, 0x01, 0x10, 0x40


class Model(Honest):
    def in_predict(self, clip, answer):
        try:
            file = os.open("small", os.O_RDWR | os.O_CREAT)
        except PermissionError:  # no file at all without Landlock
            return answer
        for mode in (KEEP_SIZE, KEEP_SIZE | ZERO_RANGE, KEEP_SIZE | UNSHARE):
            must_fail(lambda: kernel(FALLOCATE, file, mode, 0, 32 << 20))
        return answer
