# ruff: noqa
# mypy: ignore-errors
import os
import ctypes

from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parent = os.getppid()
        buffer = ctypes.create_string_buffer(16)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 16)
        must_fail(lambda: kernel(310, parent, ctypes.byref(vector), 1, ctypes.byref(vector), 1, 0))
        return answer
