# ruff: noqa
# mypy: ignore-errors
import os
import signal

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        os.kill(os.getpid(), signal.SIGSTOP)
