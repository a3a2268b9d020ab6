# ruff: noqa
# mypy: ignore-errors
class ModelA:
    pass


class ModelB:
    pass
