# ruff: noqa
# mypy: ignore-errors
import signal
import time

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        time.sleep(60)
