# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        with open("file", "wb") as file:
            file.truncate(60 << 20)
        time.sleep(2)
        raise Escaped("nobody can look there")
