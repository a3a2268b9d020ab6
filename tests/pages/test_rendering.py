"""The pages in a browser, rendered as Codabench does: nothing of Markdown or TeX is left over, and everything fits."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests import ROOT
from tests.pages.rendering import HERE, NoLibrariesError, Platform, Way, install, shown_pages
from tests.scoring.browser import chromium

FENCE = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$[\s\S]+?\$\$|\$[^$\n]+?\$")
TABLE = re.compile(r"^\|[-| ]+\|$", re.MULTILINE)
LEFT_OVER = ("$", "**", "|--", "<!--", "-->", "%%", "`", "](")
# What is on a page; what is wider than its column, or wider than it can show.
SEEN = """() => Array.from(document.querySelectorAll('section'), page => {
  const prose = page.cloneNode(true);
  prose.querySelectorAll('pre, code, style, .katex').forEach(node => node.remove());
  const all = what => Array.from(page.querySelectorAll(what));
  const starts = nodes => nodes.map(node => node.textContent.trim().slice(0, 60));
  const scrolls = node => node !== page && (
    getComputedStyle(node.parentElement).overflowX === 'auto' || scrolls(node.parentElement));
  const right = node => node.getBoundingClientRect().right;
  return {
    prose: prose.textContent,
    errors: all('.katex-error').map(node => node.title || node.textContent),
    counts: ['.katex', 'table', 'pre'].map(what => all(what).length),
    headings: all('h1, h2, h3, h4, h5, h6').map(node => Number(node.tagName[1])),
    wide: starts(all('table, pre, p, ul, ol, code, .katex .base')
      .filter(node => right(node) > right(page) && !scrolls(node))),
    scrolling: starts(all('table').filter(node => node.scrollWidth > node.clientWidth + 1)),
  };
})"""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    try:
        return install(tmp_path_factory.mktemp("platform"))
    except NoLibrariesError as error:
        pytest.skip(f"pages cannot be rendered as the platform does: {error}")


def problems(text: str, seen: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong with a page at the desktop's width."""
    prose = FENCE.sub("", text)
    yield from (f"TeX: {error}" for error in seen["errors"])
    yield from (f"left over: {sign}" for sign in LEFT_OVER if sign in seen["prose"])
    expected = [len(FORMULA.findall(prose)), len(TABLE.findall(prose)), len(FENCE.findall(text))]
    if seen["counts"] != expected:
        yield f"formulas, tables and blocks of code: {seen['counts']}, expected {expected}"
    levels = seen["headings"]
    steps = itertools.pairwise(levels)
    if levels[:1] != [1] or levels.count(1) > 1 or any(after > before + 1 for before, after in steps):
        yield f"levels of headings: {levels}"
    yield from (f"wider than the page: {start}" for start in seen["wide"])
    yield from (f"scrolls on a desktop: {start}" for start in seen["scrolling"])


def test_the_lock_names_no_registry() -> None:
    # It would be the one of the machine on which the lock was made.
    assert "resolved" not in (HERE / "package-lock.json").read_text("utf-8")


@pytest.mark.npm
@pytest.mark.browser
@pytest.mark.parametrize("way", ["today", "before"])
def test_pages_look_as_they_are_meant(platform: Platform, way: Way) -> None:
    pages = shown_pages(ROOT)
    document = platform.document(list(pages.values()), way)
    with chromium() as browser, browser.tab(document) as tab:
        found = [
            f"{title}: {problem}"
            for (title, text), seen in zip(pages.items(), tab.page.evaluate(SEEN), strict=True)
            for problem in problems(text, seen)
        ]
        # The platform's blocks of code scroll, and that is its own affair.
        found += [one for one in tab.accessibility() if "first <pre>" not in one]
        tab.page.set_viewport_size({"width": 360, "height": 740})
        found += [
            f"{title}: cut off on a phone: {start}"
            for title, seen in zip(pages, tab.page.evaluate(SEEN), strict=True)
            for start in seen["wide"]
        ]
    own = (f"request: {platform.folder.as_uri()}", "request: data:")
    found += [line for line in tab.heard if not line.startswith(own)]
    assert found == [], "\n".join(found)
