"""The tests; their README says which lie where."""

from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
"""The top of the repository."""
Thing = TypeVar("Thing")


def there(value: Thing | None) -> Thing:
    """Give a value that must be there."""
    assert value is not None
    return value
