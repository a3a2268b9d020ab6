# ruff: noqa
# mypy: ignore-errors
import time

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for number in range(5):
            with open(f"{number}", "wb") as file:
                file.truncate(60 << 20)
        time.sleep(2)
        raise Escaped("300 MB")
