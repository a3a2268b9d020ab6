# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, number, send


class Model(Honest):
    def in_predict(self, clip, answer):
        for number in range(50):
            request = {"count": None, "fps": None, "start_s": 0.0, "end_s": None, "size": [2000, 1900 + number]}
            send(message({"op": "frames", "stream": number, "request": request}))
        time.sleep(60)
