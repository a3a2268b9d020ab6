# ruff: noqa
# mypy: ignore-errors
import ctypes

from honest import Honest, kernel, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        parameters = ctypes.create_string_buffer(256)
        must_fail(lambda: kernel(425, 4, ctypes.byref(parameters)))
        return answer
