# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_load(self):
        raise ValueError("the weights are wrong")
