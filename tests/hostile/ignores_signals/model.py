# ruff: noqa
# mypy: ignore-errors
import signal
import time

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        time.sleep(60)
