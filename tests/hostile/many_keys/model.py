# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return {f"interviex{number}": 0.5 for number in range(90_000)}
