"""How figures are written: for reading, and the same everywhere."""

import math
from typing import Any

from bundle_tools.figures.marks import FigureError


def number(value: Any) -> str:  # noqa: ANN401 - settings may hold anything
    """Write a number with commas between thousands: 30, 1,000, 0.1."""
    checked = _finite(value)
    return f"{checked:,.0f}" if checked == round(checked) else f"{checked:,.6f}".rstrip("0").rstrip(".")


def pixels(value: Any) -> str:  # noqa: ANN401 - as above
    """Write a whole number without commas, as sizes of pictures are."""
    return f"{_finite(value):.0f}"


def weight(value: Any) -> str:  # noqa: ANN401 - as above
    """Write a share with two decimals, or with three where it needs them."""
    checked = _finite(value)
    return f"{checked:.2f}" if abs(checked - round(checked, 2)) < 5e-5 else f"{checked:.3f}"


def brief(value: Any) -> str:  # noqa: ANN401 - as above
    """Write about two digits: 1.5, 12, 340."""
    checked = _finite(value)
    if abs(checked) < 0.1:
        return f"{checked:.1g}"
    return f"{checked:.1f}" if abs(checked) < 9.95 else f"{checked:,.0f}"


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise FigureError(f"Expected a number in the settings; found {str(value)[:60]!r}.")
    return value
