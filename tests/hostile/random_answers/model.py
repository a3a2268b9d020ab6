# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return {**answer, "warmth": int.from_bytes(os.urandom(4)) / 2**32}
