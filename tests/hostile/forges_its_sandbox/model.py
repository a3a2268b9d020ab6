# ruff: noqa
# mypy: ignore-errors
from honest import Honest
from wire import message, send


class Model(Honest):
    def in_load(self):
        send(message({"op": "confined", "level": "portable"}))
