# ruff: noqa
# mypy: ignore-errors
import ctypes
import time
from threading import Thread

from honest import Honest

EXIT = 60  # of x86-64, this thread alone


class Model(Honest):
    def in_predict(self, clip, answer):
        Thread(target=time.sleep, args=(60,), daemon=True).start()
        ctypes.CDLL(None).syscall(EXIT, 0)
