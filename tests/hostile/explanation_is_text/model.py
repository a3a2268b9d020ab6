# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return "A text that is long enough to count."
