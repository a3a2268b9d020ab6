# ruff: noqa
# mypy: ignore-errors
import struct
import time

from honest import Honest
from wire import send


class Model(Honest):
    def in_predict(self, clip, answer):
        data = struct.pack("<II", 1 << 20, 0) + bytes(1 << 20)
        for number in range(len(data)):
            send(data[number : number + 1])
            time.sleep(1)
