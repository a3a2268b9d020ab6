"""Format numbers as texts and positions."""

import math

NONE = "–"
"""Shown for a missing number."""
NO_BREAK = "\N{NO-BREAK SPACE}"
"""A space that prevents a line break."""
_ROUND_STEPS = (1, 2, 2.5, 5, 10)


def number(value: float | None, places: int = 2) -> str:
    """Write a number with a true minus sign, zero without a sign, and a dash if unknown or not finite."""
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:.{places}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def signed(value: float | None, places: int) -> str:
    """Write a difference with its sign, except for zero."""
    text = number(value, places)
    return f"+{text}" if text[0].isdigit() and float(text) else text


def factor(value: float | None) -> str:
    """Write a factor with as many decimals (at most five) as two decimals of the total need."""
    text = number(value, 5)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None, places: int = 0) -> str:
    """Write a share as a percentage, without a line break before the sign."""
    text = number(None if share is None else 100 * share, places)
    return text if text == NONE else f"{text}{NO_BREAK}%"


def counted(count: int, whole: int) -> str:
    """Write a count with its share of a total > 0."""
    return f"{count}{NO_BREAK}({percent(count / whole)})"


def interval(ends: tuple[float, float] | None, places: int) -> str:
    """Write an interval; an empty text without one."""
    return f"{number(ends[0], places)} to {number(ends[1], places)}" if ends else ""


def position(value: float, minimum: float, maximum: float) -> float:
    """Return a value's place on a scale as a percentage of its length, two decimals."""
    return round(100 * (value - minimum) / (maximum - minimum), 2)


def ceiling(value: float) -> float:
    """Return the next round number above a value, as the end of a scale."""
    power = 1e-4
    while value > 10 * power:
        power *= 10
    return next(step * power for step in _ROUND_STEPS if value <= step * power or step == _ROUND_STEPS[-1])


def plural(count: int, singular: str, several: str = "") -> str:
    """Count things: ``1 clip``, ``2 clips``."""
    return f"{count} {singular if count == 1 else several or singular + 's'}"
