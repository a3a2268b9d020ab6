# ruff: noqa
# mypy: ignore-errors
import atexit
import sys
import time

from honest import Honest


class Late:
    def __del__(self):
        sys.exit(3)


class Model(Honest):
    def in_predict(self, clip, answer):
        atexit.register(time.sleep, 60)
        Late()
        self.late = Late()
        raise SystemExit(5)
