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
        for _ in range(100):
            send(message({"op": "audio", "rate": 192000}))
        time.sleep(60)
