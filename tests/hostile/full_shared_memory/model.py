# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        try:
            with open(f"/dev/shm/hostile-{os.getpid()}", "wb") as file:
                file.write(bytes(48 << 20))
        except OSError:
            pass
        return answer
