# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        place = f"/dev/shm/hostile-left-{os.getpid()}"
        try:
            open(place, "w").close()
            os.mkdir(f"{place}-folder")
            open(f"{place}-folder/note", "w").close()
        except OSError:
            pass
        return answer
