# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_load(self):
        self.seen = 0

    def in_predict(self, clip, answer):
        self.seen += 1
        return {**answer, "warmth": min(1.0, self.seen / 10)}
