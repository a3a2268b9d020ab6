# ruff: noqa
# mypy: ignore-errors
VALUE = 1
