# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        for name, mode in (("d", 0o300), ("e", 0), ("f", 0o677)):
            must_fail(lambda: os.mkdir(name, mode))
        must_fail(lambda: os.umask(0o477))
        os.mkdir("g")
        open("g/file", "w").close()
        try:
            os.chmod("g", 0)
        except OSError:
            pass
        return answer
