# ruff: noqa
# mypy: ignore-errors
import tempfile

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/a", "w") as file:
                file.write("mine")
        return answer
