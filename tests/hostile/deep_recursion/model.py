# ruff: noqa
# mypy: ignore-errors
import sys

from honest import Honest


def down(value):
    return down([value] * 2)[0] + 1 if value else 0


def deep(n):
    return sorted([1, 2], key=lambda _: deep(n + 1))


class Model(Honest):
    def in_predict(self, clip, answer):
        sys.setrecursionlimit(10**9)
        return deep(0)
