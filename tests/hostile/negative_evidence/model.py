# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "evidence": {"space": numpy.full((9, 16), -1.0)}}
