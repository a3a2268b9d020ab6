# ruff: noqa
# mypy: ignore-errors
import ctypes

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        frame = clip.frame_at(0.1)
        ctypes.memset(frame.ctypes.data, 0, frame.nbytes)
        raise Escaped("a frame was changed")
