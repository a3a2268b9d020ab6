"""The report's colours: enough contrast in both themes."""

import re
from itertools import product

import pytest

from tests import ROOT

CSS = ROOT / "scoring_program" / "score" / "report" / "style" / "base.css"
COLOURS = re.findall(r"--(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", CSS.read_text())
LIGHT, DARK = ({name: pair[theme] for name, *pair in COLOURS} for theme in (0, 1))


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_hand() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_marks_have_enough_contrast(theme: dict[str, str]) -> None:
    texts = product(("ink", "quiet", "error", "warning", "fill", "lower"), ("paper", "card"))
    marks = product(("fill", "lower", "mark", "perfect"), ("track",))
    assert [pair for pair in texts if contrast(*(theme[name] for name in pair)) < 4.5] == []
    assert [pair for pair in marks if contrast(*(theme[name] for name in pair)) < 3] == []
