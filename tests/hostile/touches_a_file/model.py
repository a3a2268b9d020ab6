# ruff: noqa
# mypy: ignore-errors
from pathlib import Path

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        Path("note").touch()
        assert Path("note").exists()
        return answer
