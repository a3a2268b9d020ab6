# ruff: noqa
# mypy: ignore-errors
import locale
import os
import time

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        os.chdir("/usr")
        os.umask(0o077)
        locale.setlocale(locale.LC_ALL, "C")
        os.environ.clear()
        os.environ["TZ"] = "Asia/Tokyo"
        time.tzset()
        return answer
