# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        error = ValueError("inside")
        for _ in range(50):
            error = ExceptionGroup("group", [error])
        raise error
