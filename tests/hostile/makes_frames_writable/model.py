# ruff: noqa
# mypy: ignore-errors
from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        frame = clip.frame_at(0.1)
        frame.flags.writeable = True
        frame[:] = 0
        raise Escaped("a frame was changed")
