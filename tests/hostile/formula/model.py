# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "text": "=cmd|' /C calc'!A0 and some more letters"}
