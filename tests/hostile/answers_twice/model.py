# ruff: noqa
# mypy: ignore-errors
from honest import Honest
from wire import message, number, send


class Model(Honest):
    def in_predict(self, clip, answer):
        send(message({"op": "answer", "number": number(), "value": answer}))
        return answer
