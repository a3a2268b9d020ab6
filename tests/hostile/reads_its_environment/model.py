# ruff: noqa
# mypy: ignore-errors
import os

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        if "CANARY" in os.environ or any("CANARY" in key for key in os.environ):
            raise Escaped("the environment")
        return answer
