# ruff: noqa
# mypy: ignore-errors
from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: kernel(0x40000000 + 57))
        must_fail(lambda: kernel(435, 0, 0))
        return answer
