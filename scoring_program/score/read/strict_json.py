"""Strict JSON: no NaN, duplicate keys, deep nesting or oversized text; and typed access to values."""

import json
import math
import re
from typing import Any, NoReturn

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_TEXT = 200


class StrictJsonError(ValueError):
    """The text is not accepted as JSON; the message says why."""


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"the number {name}")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise StrictJsonError("a duplicate key in one object")
    return result


def parse_object(data: bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object.

    Numbers such as 1e999 become infinite: check that a number is finite before you use it.

    `data`: UTF-8, without a byte order mark. `limit`: largest accepted size in bytes, checked before parsing. Raises
    StrictJsonError with a short description of what was found.
    """
    if len(data) > limit:
        raise StrictJsonError(f"{len(data)} bytes, more than {limit}")
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except StrictJsonError:
        raise
    except (UnicodeDecodeError, ValueError):  # ValueError also covers huge integers
        raise StrictJsonError("a file that is not JSON in UTF-8") from None
    except RecursionError:
        raise StrictJsonError("nesting that is too deep") from None
    if not isinstance(value, dict):
        raise StrictJsonError("JSON that is not an object")
    return value


def finite_number(value: object, low: float = -math.inf, high: float = math.inf) -> float | None:
    """Return a parsed value as a float if it is a finite number in a range, else None; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        return None
    return float(value) if low <= value <= high else None


def whole_number(value: object, low: int, high: int) -> int | None:
    """Return a parsed value if it is an integer in a range, else None; booleans are not numbers."""
    return value if type(value) is int and low <= value <= high else None


def is_sha256(value: object) -> bool:
    """Whether a parsed value is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and bool(_SHA256.fullmatch(value))


def short_text(value: object, longest: int = _LONGEST_TEXT) -> str:
    """Return the beginning of a parsed text; an empty text for anything else."""
    return value[:longest] if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """Return a parsed object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
