# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Number(float):
    def __float__(self):
        raise RuntimeError("looked at")


class Model(Honest):
    def in_predict(self, clip, answer):
        return {key: Number(value) for key, value in answer.items()}
