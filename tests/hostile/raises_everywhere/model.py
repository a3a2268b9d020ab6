# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def predict(self, clip):
        raise ValueError("bad luck")
