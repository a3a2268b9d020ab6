# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Broken(Exception):
    def __str__(self):
        raise Broken


class Model(Honest):
    def in_predict(self, clip, answer):
        raise Broken
