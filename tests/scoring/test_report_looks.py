"""The report in a browser: nothing asked of a network, no sideways scrolling, enough contrast in both themes."""

from __future__ import annotations

import re
import shutil
from itertools import product
from pathlib import Path

import pytest

from tests.scoring.conftest import Score
from tests.scoring.factory import make_case

CSS = Path(__file__).parents[2] / "scoring_program" / "score" / "report" / "style" / "base.css"
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


@pytest.mark.browser
@pytest.mark.parametrize("width", [375, 900, 1400])
@pytest.mark.parametrize("failed", [False, True], ids=["scored", "failed"])
def test_in_a_browser(score: Score, width: int, failed: bool) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    done = score(make_case(clips=30), (lambda root: shutil.rmtree(root / "res")) if failed else (lambda root: None))
    assert done.code == int(failed)
    with playwright.sync_playwright() as engine:
        try:
            browser = engine.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium on this machine")
        page = browser.new_page(viewport={"width": width, "height": 530})
        heard: list[str] = []
        page.on("console", lambda message: heard.append(message.text))
        page.on("request", lambda request: heard.append(request.url[:99]))
        page.goto((done.out / "detailed_results.html").as_uri())
        assert [line for line in heard if not line.startswith(("file:", "data:image/jpeg"))] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").bounding_box()["y"] < 100
        if not failed:
            image = page.locator("img").first
            image.scroll_into_view_if_needed()
            assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 355
        browser.close()
