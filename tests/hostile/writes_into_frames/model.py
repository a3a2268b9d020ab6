# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        frame = clip.frame_at(0.1)
        frame[:] = 0
