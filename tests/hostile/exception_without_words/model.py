# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Model(Honest):
    def in_load(self):
        raise Mute
