# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, send


class Model(Honest):
    def in_predict(self, clip, answer):
        for _ in range(100):
            send(message({"op": "audio", "rate": 192000}))
        time.sleep(60)
