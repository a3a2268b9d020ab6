# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        import random

        random.random()
        return answer
