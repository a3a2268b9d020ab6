# ruff: noqa
# mypy: ignore-errors
import os

from honest import Honest, kernel, must_fail

TRUNCATE = 76


class Model(Honest):
    def in_predict(self, clip, answer):
        inside = self.app / "input_data"
        others = [self.assets / "model.py", inside / "task.yaml", self.app / "input" / "ref" / "labels.csv"]
        for path in [*others, *(inside / "clips" / f"c{number:03d}.mp4" for number in range(6))]:
            name = os.fsencode(path)
            # What could be emptied would be longer by a byte in vain.
            must_fail(lambda: kernel(TRUNCATE, name, path.lstat().st_size + 1))
            must_fail(lambda: os.open(path, os.O_RDWR | os.O_APPEND))
            must_fail(lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
        return answer
