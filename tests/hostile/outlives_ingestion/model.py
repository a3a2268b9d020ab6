# ruff: noqa
# mypy: ignore-errors
from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: kernel(157, 1, 0, 0, 0, 0))
        return answer
