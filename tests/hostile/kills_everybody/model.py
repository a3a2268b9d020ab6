# ruff: noqa
# mypy: ignore-errors
import os
import signal

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        # Signal 0 reaches nobody, also where the walls have a hole.
        must_fail(lambda: os.kill(-1, 0))
        os.kill(0, signal.SIGKILL)
