# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return {"warmth": numpy.array(0.5), "interview": numpy.array([0.5])}
