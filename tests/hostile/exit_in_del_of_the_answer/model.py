# ruff: noqa
# mypy: ignore-errors
import sys

from honest import Honest


class Late(dict):
    def __del__(self):
        sys.exit(3)


class Model(Honest):
    def in_predict(self, clip, answer):
        return Late(answer)
