# ruff: noqa
# mypy: ignore-errors
from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: (self.app / "output" / "predictions.csv").read_bytes())
        must_fail(lambda: list((self.app / "output").iterdir()))
        return answer
