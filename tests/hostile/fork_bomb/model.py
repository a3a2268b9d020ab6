# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for _ in range(20):
            try:
                if os.fork() == 0:
                    time.sleep(30)
            except OSError:
                return answer
        raise Escaped("forks")
