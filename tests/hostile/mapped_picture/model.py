# ruff: noqa
# mypy: ignore-errors
import numpy

from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        pixels = numpy.memmap("picture", numpy.uint8, "w+", shape=(200, 355, 3))
        pixels[:] = answer["image"]
        return {**answer, "image": pixels}
