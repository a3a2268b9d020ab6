# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, number, send


class Model(Honest):
    def in_predict(self, clip, answer):
        stream = iter(clip.frames())
        next(stream)
        for number in range(20):
            send(message({"op": "free", "slots": [[n, m] for n in range(20) for m in range(2000)], "left": [0, 1, 2]}))
        time.sleep(60)
