"""Which page the platform shows, and what would not work there."""

from pathlib import Path

import pytest

from bundle_tools.codabench.worker.report import find_report
from tests.tiny import write_files


def notes(tmp_path: Path, page: str) -> tuple[str, ...]:
    return find_report(write_files(tmp_path, {"detailed_results.html": page}), enabled=True).notes


def test_the_named_page_wins(tmp_path: Path) -> None:
    # Many, because the order of the file system might favour it by chance.
    others: dict[str, str | bytes] = {f"{number}.html": "x" for number in range(100)}
    write_files(tmp_path, {**others, "detailed_results.html": "x", "deep/z.html": "x"})
    found = find_report(tmp_path, enabled=True)
    assert found.path == tmp_path / "detailed_results.html"
    assert found.notes == ("detailed_results.html: shown; 100 other pages are not.",)


def test_any_page_at_the_root_will_do(tmp_path: Path) -> None:
    write_files(tmp_path, {"b.html": "x", "a.html": "x", "deep/z.html": "x"})
    found = find_report(tmp_path, enabled=True)
    assert found.path is not None
    assert found.path.parent == tmp_path
    assert "of 2 pages any one may be shown" in found.notes[0]


def test_none_and_empty_and_switched_off(tmp_path: Path) -> None:
    assert find_report(tmp_path, enabled=False) == find_report(tmp_path, enabled=False)
    assert find_report(tmp_path, enabled=False).notes == ()
    assert "not written" in find_report(tmp_path, enabled=True).notes[0]
    write_files(tmp_path, {"detailed_results.html": ""})
    assert find_report(tmp_path, enabled=True).path is None
    assert "empty; its upload can hang" in find_report(tmp_path, enabled=True).notes[0]
    assert "enable_detailed_results is off" in find_report(tmp_path, enabled=False).notes[0]


@pytest.mark.parametrize(
    "page",
    [
        "<img src=pictures/a.png>",
        "<script src='https://example.org/x.js'></script>",
        "<link rel=stylesheet href=style.css>",
        "<video poster=a.png>",
        "<img srcset='a.png 2x'>",
        "<object data='a.svg'></object>",
        "<svg><use href='icons.svg#a'/></svg>",
        "<style>body { background: url(a.png) }</style>",
        "<style>@import 'a.css';</style>",
        "<p style=\"background: url('a.png')\">",
    ],
)
def test_what_a_page_loads_from_elsewhere_is_told(tmp_path: Path, page: str) -> None:
    assert "not self-contained" in notes(tmp_path, page)[0]


@pytest.mark.parametrize(
    "page",
    [
        "<img src='data:image/png;base64,AA=='>",
        "<style>a { background: url(data:image/png;base64,AA==) }</style><p>url(a.png) and src=a.png as text</p>",
        "<a href='#clip'>clip</a><svg><use href='#a'/></svg>",
        "<p>&lt;img src=a.png&gt;</p>",
        "<script>const src = 'a';</script>",
    ],
)
def test_self_contained_pages_get_no_note(tmp_path: Path, page: str) -> None:
    assert notes(tmp_path, page) == ()


def test_links_that_lead_away_are_told(tmp_path: Path) -> None:
    assert (
        "do not work in the platform's frame: https://example.org."
        in notes(tmp_path, "<a href=https://example.org>")[0]
    )
