# ruff: noqa
# mypy: ignore-errors
import ctypes

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        frame = clip.frame_at(0.1)
        address = frame.ctypes.data & ~4095
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4096), 3) == 0:
            raise Escaped("writable frames")
        return answer
