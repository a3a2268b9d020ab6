"""Builds pages of made-up runs, and reads pages as a browser without scripts would."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from score.evaluate import evaluate
from score.landmarks import KeyFrames, Landmarks
from score.messages import of_run
from score.pipeline import prepare, scored
from score.read.tables import Hashes
from score.report.gate import redact
from score.report.write import report_page
from score.run import ScoredRun
from tests.scoring.factory import Case, make_input

HIDDEN = {"clips": False, "truth": False, "gallery": 4}
CLIPS_ONLY = {"clips": True, "truth": False, "gallery": 4}
OPEN = {"clips": True, "truth": True, "gallery": 4}
VOID = {"meta", "img", "br", "link", "input"}
_STRUCTURE = "html head meta title style script body main header section footer article details summary nav"
_TEXT = (
    "a em p h1 h2 h3 h4 span bdi b strong mark code table caption thead tbody tr th td dl dt dd div ul ol li "
    "fieldset legend label input form select option output"
)
_PICTURES = "img figure figcaption svg rect line polyline circle path text"
ALLOWED = {*f"{_STRUCTURE} {_TEXT} {_PICTURES}".split()}
"""Elements that a page may have: none loads or runs anything, or leads away, but the page's own style and script."""


def assert_complete(page: str) -> None:
    """The page of an open phase has its gallery, with pictures, and nothing in it broke down."""
    assert "internal_error" not in page
    assert 'class="gallery"' in page
    assert "data:image/jpeg;base64," in page


def scored_of(folder: Path, case: Case, **more: Any) -> ScoredRun:  # noqa: ANN401 - any field of a run
    """Score a case, and reduce it to what its phase may show."""
    run = replace(prepare(make_input(folder, case)), hashes=Hashes(), landmarks=Landmarks(), key_frames=KeyFrames())
    run = replace(run, **more)
    evaluation = evaluate(run.outcomes, run.settings, run.results.run.duration_s)
    return redact(scored(run, evaluation, of_run(run.results, run.outcomes, run.audience)))


def page_of(folder: Path, case: Case, **more: Any) -> "Page":  # noqa: ANN401 - as above
    """Render the report of a case, and read it."""
    return Page(report_page(scored_of(folder, case, **more)))


class Page(HTMLParser):
    """Collects every element, and insists that they nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.tables: dict[str, list[list[str]]] = {}
        """Cells of all tables of a class, row by row; the first row of each is its headings."""
        self._cells: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self._cells = self.tables.setdefault(str(dict(attrs).get("class")), [])
        elif tag == "tr":
            self._cells.append([])
        elif tag in {"td", "th"}:
            self._cells[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] not in (["style"], ["script"]):
            self.text += data
        if {"td", "th"} & set(self._open):
            self._cells[-1][-1] += data
