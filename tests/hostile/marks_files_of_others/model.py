# ruff: noqa
# mypy: ignore-errors
import fcntl
import os
import struct

from honest import Honest, kernel, must_fail

FILE_SETATTR, HERE = 469, -100
SET_FLAGS, SET_FLAGS_32, SET_XATTR, SET_VERSION = 0x40086602, 0x40046602, 0x401C5820, 0x40087602
NO_DUMP, X_NO_DUMP = 0x40, 0x80


class Model(Honest):
    def in_predict(self, clip, answer):
        for path in (self.assets / "model.py", self.app / "input_data" / "clips" / "c004.mp4"):
            attributes = struct.pack("=QIIII", X_NO_DUMP, 0, 0, 0, 0)
            must_fail(lambda: kernel(FILE_SETATTR, HERE, os.fsencode(path), attributes, 24, 0))
            try:
                file = os.open(path, os.O_RDONLY)
            except OSError:
                continue
            # Extents, as the file has them already, and the mark.
            for flags in (0x80000 | NO_DUMP, NO_DUMP):
                for request in (SET_FLAGS, SET_FLAGS_32, SET_VERSION):
                    must_fail(lambda: fcntl.ioctl(file, request, struct.pack("=q", flags)))
            must_fail(lambda: fcntl.ioctl(file, SET_XATTR, struct.pack("=IIIII8x", X_NO_DUMP, 0, 0, 0, 0)))
        return answer
