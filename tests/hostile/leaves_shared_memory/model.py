# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        try:
            open(f"/dev/shm/hostile-left-{os.getpid()}", "w").close()
        except OSError:
            pass
        return answer
