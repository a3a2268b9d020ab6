# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        return [bytearray(256 << 20) for _ in range(16)]
