"""The last look at what was built: only data, of a size and depth that somebody can work with."""

from typing import Any

from ingest.legacy.pickles.limits import Limits
from ingest.legacy.pickles.refusal import PickleRefused
from ingest.legacy.pickles.source import OldString, Stored
from ingest.legacy.pickles.values import Array, ArrayInMaking, StoredArray


def plain(value: object, limits: Limits) -> Any:  # noqa: ANN401 - data of any shape
    """Return a copy in which nothing is left of the machine; what is still in the file stays there.

    Raises
    ------
    PickleRefused
        Where something is no data, or where it is too much or too deep: what contains itself has no end.
    """
    return _Plain(limits).copy(value, 0)


class _Plain:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._items = 0
        # An array that stands in many places is one array.
        self._arrays: dict[int, Array | StoredArray] = {}

    def copy(self, value: object, depth: int) -> Any:  # noqa: ANN401 - data of any shape
        self._items += 1
        if depth > self._limits.depth:
            raise PickleRefused(f"containers inside each other, more than {self._limits.depth} deep")
        if self._items > self._limits.items:
            raise PickleRefused(f"more than {self._limits.items} values")
        if isinstance(value, OldString):
            return value.text()
        if value is None or isinstance(value, bool | int | float | str | bytes | Stored):
            return value
        if isinstance(value, dict):
            return {key: self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [self.copy(item, depth + 1) for item in value]
        if isinstance(value, tuple):
            return tuple(self.copy(item, depth + 1) for item in value)
        if isinstance(value, ArrayInMaking) and value.content is not None:
            return self._array(value, value.content)
        raise PickleRefused("a name or an array without content where data should be")

    def _array(self, made: ArrayInMaking, content: StoredArray) -> Array | StoredArray:
        if id(made) not in self._arrays:
            self._arrays[id(made)] = content if isinstance(content.data, Stored) else content.read()
        return self._arrays[id(made)]
