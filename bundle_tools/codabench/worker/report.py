"""The detailed results: which page the platform shows, and what would not work on it."""

import os
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePath

from bundle_tools.codabench.archive import printable

NAME = "detailed_results.html"
# Attributes that load something; `href` loads only in <link> and is otherwise a link.
LOADING = frozenset({"src", "srcset", "poster", "data", "background", "xlink:href"})
CSS_URL = re.compile(r"(?:url\(\s*|@import\s+)['\"]?([^'\")\s;]+)", re.IGNORECASE)
SHOWN = 3


@dataclass(frozen=True)
class Report:
    """The chosen page."""

    path: Path | None
    """None if the platform shows none."""
    notes: tuple[str, ...]
    """Remarks in addition to the platform's."""


def find_report(output: Path, *, enabled: bool) -> Report:
    """Choose as the worker does: `detailed_results.html`, else any other page at the root of the scoring output.

    Parameters
    ----------
    enabled
        `enable_detailed_results` of the competition.
    """
    with os.scandir(output) as entries:
        # In the order of the file system, not the alphabet, like the worker.
        pages = [entry.name for entry in entries if entry.name.endswith(".html") and entry.is_file()]
    if not enabled:
        notes = (
            [f"{printable(PurePath(pages[0]))}: not shown, because enable_detailed_results is off."] if pages else []
        )
        return Report(None, tuple(notes))
    if not pages:
        return Report(None, (f"{NAME}: not written, so there is no report.",))
    chosen = NAME if NAME in pages else pages[0]
    notes = []
    if NAME not in pages:
        others = f"; of {len(pages)} pages any one may be shown" if len(pages) > 1 else ""
        notes.append(f"{printable(PurePath(chosen))}: shown because there is no {NAME}{others}.")
    elif len(pages) > 1:
        notes.append(f"{NAME}: shown; {len(pages) - 1} other pages are not.")
    path = output / chosen
    if path.stat().st_size == 0:
        return Report(
            None, (*notes, f"{printable(PurePath(chosen))}: empty; its upload can hang until the time limit.")
        )
    return Report(path, (*notes, *_page_notes(path)))


def _page_notes(path: Path) -> list[str]:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    name = printable(PurePath(path.name))
    notes = []
    if page.loaded:
        notes.append(f"{name}: not self-contained; it loads {_some(page.loaded)}.")
    if page.leads:
        notes.append(f"{name}: links that do not work in the platform's frame: {_some(page.leads)}.")
    return notes


def _some(names: list[str]) -> str:
    unique = list(dict.fromkeys(name[:80] for name in names))
    more = f" and {len(unique) - SHOWN} more" if len(unique) > SHOWN else ""
    return ", ".join(unique[:SHOWN]) + more


class _Page(HTMLParser):
    """Collects what a page loads and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.leads: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        for name, value in attrs:
            if not value:
                continue
            if name in LOADING or (name == "href" and tag in {"link", "image", "use"}):
                self._load(value)
            elif name == "href":
                self._lead(value)
            elif name == "style":
                self._load_from_css(value)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self._load_from_css(data)

    def _load(self, target: str) -> None:
        if not target.lstrip().lower().startswith(("data:", "#")):
            self.loaded.append(target)

    def _lead(self, target: str) -> None:
        if not target.startswith("#"):
            self.leads.append(target)

    def _load_from_css(self, css: str) -> None:
        for target in CSS_URL.findall(css):
            self._load(target)
