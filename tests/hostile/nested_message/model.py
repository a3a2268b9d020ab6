# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, send


class Model(Honest):
    def in_predict(self, clip, answer):
        send(message(b'{"op":"answer","value":' + b"[" * 900 + b"]" * 900 + b"}"))
        time.sleep(60)
