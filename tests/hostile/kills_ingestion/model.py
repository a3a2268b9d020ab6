# ruff: noqa
# mypy: ignore-errors
import os
import signal

from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGINT):
            must_fail(lambda number=number: os.kill(parent, number))
            must_fail(lambda number=number: kernel(234, parent, parent, int(number)))
            must_fail(lambda number=number: kernel(200, parent, int(number)))
        return answer
