# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        value = 0.5
        for _ in range(100_000):
            value = [value]
        return {**answer, "warmth": value}
