# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        must_fail(lambda: open(f"/proc/{parent}/cmdline", "rb").read())
        must_fail(lambda: os.listdir("/proc"))
        return answer
