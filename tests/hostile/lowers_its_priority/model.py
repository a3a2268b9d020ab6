# ruff: noqa
# mypy: ignore-errors
import os

from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        try:
            os.sched_setscheduler(os.getppid(), os.SCHED_OTHER, os.sched_param(0))
        except (OSError, AttributeError):
            return answer
        raise Escaped("the scheduler")
