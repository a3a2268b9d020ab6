# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        block = bytes(1 << 20)
        while True:
            os.write(2, block)
