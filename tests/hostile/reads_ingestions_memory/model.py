# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        for name in ("mem", "environ", "maps", "auxv", "io"):
            must_fail(lambda name=name: open(f"/proc/{parent}/{name}", "rb").read(1))
        must_fail(lambda: os.listdir(f"/proc/{parent}/fd"))
        return answer
