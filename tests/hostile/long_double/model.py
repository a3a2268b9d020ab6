# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return {**answer, "warmth": numpy.longdouble(0.5)}
