# ruff: noqa
# mypy: ignore-errors
import time

time.sleep(60)
