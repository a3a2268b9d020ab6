# ruff: noqa
# mypy: ignore-errors
import abc

from honest import Honest


class Base(abc.ABC):
    pass


class Model(Honest, Base):
    pass
