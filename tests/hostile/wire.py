"""The model process's side of the channel to ingestion, for models that misuse it; copied beside every submission."""

# mypy: ignore-errors
# ruff: noqa
import json
import os
import stat
import struct
import sys


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


def number():
    frame = sys._getframe()
    while "order" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["order"]["number"]
