# ruff: noqa
# mypy: ignore-errors
from honest import Honest


def deep():
    # Each calls the next one in C, where no version of Python counts: the stack ends before the iterators do.
    iterator = iter([1])
    for _ in range(10**6):
        iterator = map(int, iterator)
    return next(iterator)


class Model(Honest):
    def in_predict(self, clip, answer):
        return deep()
