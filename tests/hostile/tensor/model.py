# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Tensor:
    def __init__(self, pixels):
        self.pixels = pixels

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, *_, **__):
        return self.pixels


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "image": Tensor(answer["image"])}
