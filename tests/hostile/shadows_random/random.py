# ruff: noqa
# mypy: ignore-errors
def random():
    return 0.5
