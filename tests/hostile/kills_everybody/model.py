# ruff: noqa
# mypy: ignore-errors
import os
import signal

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: os.kill(-1, signal.SIGKILL))
        os.kill(0, signal.SIGKILL)
