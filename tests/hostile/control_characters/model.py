# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "text": "\x00\x1b[2J and some more letters for the length."}
