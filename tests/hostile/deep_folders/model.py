# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        return answer
