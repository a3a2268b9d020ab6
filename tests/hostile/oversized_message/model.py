# ruff: noqa
# mypy: ignore-errors
import struct
import time

from honest import Honest
from wire import send


class Model(Honest):
    def in_predict(self, clip, answer):
        send(struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF))
        time.sleep(60)
