# ruff: noqa
# mypy: ignore-errors
import ctypes

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        ctypes.string_at(0)
