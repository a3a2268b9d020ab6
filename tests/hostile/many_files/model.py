# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        open("0", "w").close()
        for number in range(1, 10_500):
            os.link("0", f"{number}")  # a name takes a tenth of the time of a file
        time.sleep(2)
        raise Escaped("files")
