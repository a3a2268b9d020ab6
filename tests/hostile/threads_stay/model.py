# ruff: noqa
# mypy: ignore-errors
import threading
import time

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        threading.Thread(target=time.sleep, args=(3600,)).start()
        return answer
