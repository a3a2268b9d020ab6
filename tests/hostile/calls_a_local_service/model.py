# ruff: noqa
# mypy: ignore-errors
import errno
import socket

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        try:
            with socket.socket(socket.AF_UNIX) as line:
                code = line.connect_ex("/nowhere/service.sock")
        except PermissionError:
            return answer
        if code not in (errno.EACCES, errno.EPERM):
            raise Escaped(f"connect was tried: {code}")
        return answer
