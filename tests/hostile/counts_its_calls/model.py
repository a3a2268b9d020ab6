# ruff: noqa
# mypy: ignore-errors
import os

from honest import Escaped, Honest
from wire import number


class Model(Honest):
    def in_load(self):
        self.calls = 0

    def in_predict(self, clip, answer):
        os._exit(1)

    def count(self):
        self.calls += 1
        if number() != self.calls:
            raise Escaped(f"call {number()} of the run is call {self.calls} of this process")

    def predict(self, clip):
        self.count()
        return super().predict(clip)

    def explain(self, clip, prediction):
        self.count()
        return super().explain(clip, prediction)
