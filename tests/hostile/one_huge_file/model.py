# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        with open("huge", "wb") as file:
            for _ in range(70):
                file.write(bytes(1 << 20))
