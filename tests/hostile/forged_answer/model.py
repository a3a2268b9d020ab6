# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, number, send


class Model(Honest):
    def in_predict(self, clip, answer):
        send(message({"op": "answer", "number": number(), "value": {"warmth": 7, "interview": 0.5}}))
        time.sleep(60)
