# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return {key: numpy.float16(value) for key, value in answer.items()}
