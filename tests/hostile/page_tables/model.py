# ruff: noqa
# mypy: ignore-errors
import ctypes
import mmap

from honest import Escaped, Honest

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
TERABYTE, STEP = 1 << 40, 2 << 20
NO_RESERVE = 0x4000


class Model(Honest):
    def in_predict(self, clip, answer):
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
        start = libc.mmap(None, TERABYTE, mmap.PROT_READ, kind, -1, 0)
        libc.madvise(start, TERABYTE, 15)  # no huge pages
        for place in range(start, start + TERABYTE, STEP):
            ctypes.c_char.from_address(place).value
        raise Escaped("2 GB of page tables")
