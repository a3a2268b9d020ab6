# ruff: noqa
# mypy: ignore-errors
VALUE = 2
