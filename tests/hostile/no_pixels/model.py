# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "image": numpy.zeros((0, 355, 3), numpy.uint8)}
