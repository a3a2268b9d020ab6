# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        for name in ("mem", "environ", "maps", "auxv", "io"):
            must_fail(lambda name=name: open(f"/proc/{parent}/{name}", "rb").read(1))
        for number in range(64):
            must_fail(lambda number=number: os.open(f"/proc/{parent}/fd/{number}", os.O_RDONLY))
        return answer
