# ruff: noqa
# mypy: ignore-errors
from honest import Honest
from wire import message, send


class Model(Honest):
    def in_predict(self, clip, answer):
        data = message({"op": "free", "slots": [], "left": []}) * 1000
        while True:
            send(data)
