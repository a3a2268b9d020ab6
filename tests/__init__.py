"""The tests; their README says which lie where."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).resolve().parents[1]
"""The top of the repository."""
Thing = TypeVar("Thing")


def there(value: Thing | None) -> Thing:
    """Give a value that must be there."""
    assert value is not None
    return value


def mostly_slow(names: Iterable[str], quick: Iterable[str]) -> list[object]:
    """Give the parameters of a test, all marked slow but those that `make test` tries, too."""
    listed, tried = list(names), set(quick)
    assert tried <= set(listed), tried - set(listed)
    return [name if name in tried else pytest.param(name, marks=pytest.mark.slow) for name in listed]
