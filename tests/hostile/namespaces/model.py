# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: kernel(272, 0x10000000))
        must_fail(lambda: os.chroot("/"))
        return answer
