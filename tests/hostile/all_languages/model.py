# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "text": "\U0001f600 你好 e\u0301 שלום, all in one text."}
