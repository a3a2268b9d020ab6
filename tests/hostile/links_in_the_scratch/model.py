# ruff: noqa
# mypy: ignore-errors
import os
import socket

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: os.symlink("/etc", "link"))
        must_fail(lambda: os.mkfifo("pipe"))
        must_fail(lambda: os.link(self.assets / "model.py", "hard"))
        must_fail(lambda: socket.socket(socket.AF_UNIX).bind("service"))
        return answer
