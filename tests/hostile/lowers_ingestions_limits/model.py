# ruff: noqa
# mypy: ignore-errors
import os
import resource

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        must_fail(lambda: resource.prlimit(parent, resource.RLIMIT_FSIZE, (0, 0)))
        return answer
