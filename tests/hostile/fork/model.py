# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(os.fork)
        return answer
