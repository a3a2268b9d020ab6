# ruff: noqa
# mypy: ignore-errors
import abc

from honest import Honest


class Model(Honest, abc.ABC):
    @abc.abstractmethod
    def missing(self):
        pass
