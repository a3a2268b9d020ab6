# ruff: noqa
# mypy: ignore-errors
import warnings

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        warnings.simplefilter("always")
        for number in range(5000):
            warnings.warn(f"number {number}")
        return answer
