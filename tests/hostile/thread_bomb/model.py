# ruff: noqa
# mypy: ignore-errors
import threading

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        threading.stack_size(32768)
        stop = threading.Event()
        for _ in range(3000):
            threading.Thread(target=stop.wait, daemon=True).start()
        stop.wait(2)  # ingestion counts from time to time
        raise Escaped("3000 threads for two seconds")
