"""Checks of a predicted value before it is written in the other format."""

import math
from numbers import Real


def finite(value: object) -> float:
    """Return a number, or the number in a text.

    Raises ValueError when it is neither, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise ValueError("no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number
