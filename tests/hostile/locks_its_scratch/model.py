# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        os.mkdir("d")
        open("d/file", "w").close()
        os.mkdir("e", 0)
        try:
            os.chmod("d", 0)
        except OSError:
            pass
        return answer
