# ruff: noqa
# mypy: ignore-errors
import ctypes
import mmap
import os
import time

from honest import Escaped, Honest

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)


class Model(Honest):
    def in_predict(self, clip, answer):
        for _ in range(6):
            file = os.open("one\r \n (deleted)\rname", os.O_RDWR | os.O_CREAT)
            os.ftruncate(file, 60 << 20)
            libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
            os.unlink("one\r \n (deleted)\rname")
            os.close(file)
        time.sleep(2)
        raise Escaped("360 MB")
