# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        must_fail(lambda: kernel(101, 16, parent, 0, 0))
        must_fail(lambda: kernel(101, 0x4206, parent, 0, 0))
        return answer
