# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return numpy.full(2, 0.5)
