# ruff: noqa
# mypy: ignore-errors
import socket

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
        must_fail(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
        return answer
