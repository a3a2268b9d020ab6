# ruff: noqa
# mypy: ignore-errors
class Modell:
    pass
