# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "image": numpy.broadcast_to(numpy.uint8(1), (20_000, 20_000, 3))}
