# ruff: noqa
# mypy: ignore-errors
import ctypes
import time

from honest import Escaped, Honest

PR_SET_DUMPABLE = 4


class Model(Honest):
    def in_predict(self, clip, answer):
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        time.sleep(2)
        raise Escaped("nobody sees what it has open")
