# ruff: noqa
# mypy: ignore-errors
import mmap

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        with open("short", "wb+") as file:
            file.truncate(1 << 20)
            memory = mmap.mmap(file.fileno(), 1 << 20)
            file.truncate(0)
            return {"warmth": memory[0], "interview": 0}
