# ruff: noqa
# mypy: ignore-errors
import socket

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))
        must_fail(lambda: socket.socket(socket.AF_INET6))
        return answer
