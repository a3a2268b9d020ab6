# ruff: noqa
# mypy: ignore-errors
import fcntl
import os

from honest import Honest, kernel, must_fail

INOTIFY_INIT, INOTIFY_INIT1, FANOTIFY_INIT = 253, 294, 300


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: kernel(INOTIFY_INIT))
        must_fail(lambda: kernel(INOTIFY_INIT1, 0))
        must_fail(lambda: kernel(FANOTIFY_INIT, 0x200, 0))  # by the names of files: the one kind that needs no root
        must_fail(lambda: fcntl.fcntl(os.open(self.assets, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS))
        return answer
