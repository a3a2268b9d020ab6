# ruff: noqa
# mypy: ignore-errors
import os
import time
import socket

from honest import Honest
from wire import channel, message


class Model(Honest):
    def in_predict(self, clip, answer):
        channel_ = socket.socket(fileno=os.dup(channel()))
        socket.send_fds(channel_, [message({"op": "answer", "value": answer})], [0, 1, 2])
        time.sleep(60)
