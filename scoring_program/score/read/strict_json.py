"""JSON without its traps: no NaN, no duplicate keys, no bottomless nesting, no oversized text."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


class StrictJsonError(ValueError):
    """The text is not the JSON that we accept; the message says why."""


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"the number {name}")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise StrictJsonError("a key that stands twice in one object")
    return result


def parse_object(data: bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object.

    Numbers such as 1e999 still become infinite: whoever uses a number checks that it is finite.

    Parameters
    ----------
    data
        UTF-8, without a byte order mark.
    limit
        Largest accepted size in bytes, checked before parsing.

    Raises
    ------
    StrictJsonError
        With a short description of what was found.
    """
    if len(data) > limit:
        raise StrictJsonError(f"{len(data)} bytes, more than {limit}")
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except StrictJsonError:
        raise
    except (UnicodeDecodeError, ValueError):  # ValueError covers huge integers as well
        raise StrictJsonError("text that is not JSON in UTF-8") from None
    except RecursionError:
        raise StrictJsonError("nesting that is too deep") from None
    if not isinstance(value, dict):
        raise StrictJsonError("JSON that is not an object")
    return value


def finite_number(value: object) -> float | None:
    """Return a parsed value as a float when it is a finite number, else None; true and false are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        return None
    return float(value)
