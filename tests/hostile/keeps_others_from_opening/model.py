# ruff: noqa
# mypy: ignore-errors
import fcntl
import os

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        for path in (self.assets / "model.py", self.app / "input_data" / "clips" / "c004.mp4"):
            for lease in (fcntl.F_RDLCK, fcntl.F_WRLCK):
                must_fail(lambda: fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_SETLEASE, lease))
        return answer
