# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    pass
