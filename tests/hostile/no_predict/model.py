# ruff: noqa
# mypy: ignore-errors
class Model:
    def __init__(self, assets):
        pass
