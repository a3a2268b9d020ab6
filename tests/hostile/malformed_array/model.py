# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, number, send


class Model(Honest):
    def in_predict(self, clip, answer):
        send(
            message(
                {
                    "op": "answer",
                    "number": number(),
                    "value": {"$array": {"dtype": "(1,2f4", "shape": [1], "offset": 0}},
                }
            )
        )
        time.sleep(60)
