# ruff: noqa
# mypy: ignore-errors
import time

from honest import Honest
from wire import message, send


class Model(Honest):
    def in_load(self):
        send(
            message(
                {
                    "op": "failed",
                    "code": "settings_unreadable",
                    "where": "task.yaml\n[ingestion] complete",
                    "found": "\u001b[2J\u0000",
                    "expected": "",
                    "fix": "",
                    "fault": "organiser",
                }
            )
        )
        time.sleep(60)
