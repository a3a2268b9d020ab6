# ruff: noqa
# mypy: ignore-errors
import json
import os
import stat
import struct
import time

from honest import Honest


def channel():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            continue


def message(body, blob=b""):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return struct.pack("<II", len(text), len(blob)) + text + blob


def send(data):
    view = memoryview(data)
    while view:
        view = view[os.write(channel(), view) :]


class Model(Honest):
    def in_predict(self, clip, answer):
        data = struct.pack("<II", 1 << 20, 0) + bytes(1 << 20)
        for number in range(len(data)):
            send(data[number : number + 1])
            time.sleep(1)
