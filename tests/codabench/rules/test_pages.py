"""Addresses and figures in pages: all forms are found, no false alarm, and one pass whatever the page holds."""

import time
from pathlib import Path

import pytest

from bundle_tools.challenge.check import check
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.rules.settings.addresses import linked, loaded
from bundle_tools.codabench.rules.settings.pages import MOST_TOLD
from tests.tiny import write_files

PAGE = "pages/overview.md"


@pytest.mark.parametrize(
    ("text", "pictures", "links"),
    [
        ("![a](a.png) [b](b.md)", ["a.png"], ["b.md"]),
        ("[![badge](badge.svg)](rules.md)", ["badge.svg"], ["rules.md"]),
        ("[![badge](https://example.org/b.svg)](rules.md)", [], ["rules.md"]),
        ("[the\nrules](<rules.md>) [a](b.md 'title')", [], ["rules.md", "b.md"]),
        (r"\[no](no.md) [yes](yes.md) !\[no](no.png)", [], ["yes.md"]),
        ("[x\n\n](y.md)", [], []),
        (
            "See [the rules][r].\n\n[r]: rules.md 'The rules'\n[s]: <https://example.org>\n[^1]: note.md",
            [],
            ["rules.md"],
        ),
        ("[Note]: this is only prose.", [], []),
        ("<img src=img/a.png> <IMG alt=x SRC='b.png'/> <img\n src = c.png>", ["img/a.png", "b.png", "c.png"], []),
        ('<video poster="p.png" src="v.mp4"></video><audio src=a.ogg>', ["p.png", "v.mp4", "a.ogg"], []),
        ("<video><source src='v.webm'></video>", ["v.webm"], []),
        (
            "<a class=x href=terms.html>t</a> <a href='#top'> <a href=/a> <a href=mailto:x@example.org>",
            [],
            ["terms.html"],
        ),
        (
            "<img title='see src=x.png' data-src=a.png src='data:image/png;base64,AA='> <image src=a> <article href=b>",
            [],
            [],
        ),
        ("f(x)[0](y) and a[i] (b) and <a> and x < img src=a", [], ["y"]),
    ],
)
def test_addresses_of_a_page(text: str, pictures: list[str], links: list[str]) -> None:
    assert (loaded(text), linked(text)) == (pictures, links)


@pytest.mark.parametrize(
    "piece",
    [
        *("[x", "![", "[](", "[x](", "](", "[a]:", "<img ", "<a ", "<img src=", "<img src='", "<img a='"),
        *("`", "``` x\n", "```x```\n", "$a", "\\", "\n ", " "),
        "<!--=a-->1<!--/-->",
        "",
    ],
    ids=repr,
)
def test_a_page_of_any_shape_is_read_in_one_pass(tiny: Path, piece: str) -> None:
    size = 250_000
    page = piece * (size // len(piece)) if piece else " " * (size * 6 // 10) + "<!--=a-->1<!--/-->" * (size // 50)
    write_files(tiny, {PAGE: page})
    started = time.process_time()
    check(tiny)
    # A tenth to a fifth of a second; in quadratic time it would be seconds.
    assert time.process_time() - started < 1


def test_a_page_of_broken_links_is_told_shortly(tiny: Path) -> None:
    write_files(tiny, {PAGE: "".join(f"[x](page{number}.md)\n" for number in range(1000))})
    found = [finding.what for finding in check(tiny) if finding.code == "page-link"]
    assert len(found) == MOST_TOLD
    assert any(what.endswith("'page19.md' and 980 more.") for what in found)


MARKED = "# Tiny\n\nThe phase begins on <!--=start-->2030-01-01 12:00<!--/-->.\n"


def told(bundle: Path) -> list[tuple[str, str, str, str]]:
    return [(found.code, found.severity, found.where, found.what) for found in check(bundle)]


def test_current_figures_are_silent(tiny: Path) -> None:
    write_files(tiny, {PAGE: MARKED, "docs/guide.md": "No mark <!-- but a comment -->.\n"})
    assert told(tiny) == []


def test_a_stale_figure_is_a_warning_with_both_values(tiny: Path) -> None:
    write_files(tiny, {PAGE: MARKED.replace("2030-01-01", "2029-05-02")})
    what = "start: found '2029-05-02 12:00'; expected '2030-01-01 12:00'."
    assert told(tiny) == [("page-figure", "warning", f"{PAGE}:3", what)]
    archive = tiny.parent / "stale.zip"
    zip_folder(tiny, archive)
    assert told(archive) == told(tiny)


def test_a_mark_that_cannot_be_filled_is_a_warning_with_the_reason(tiny: Path) -> None:
    write_files(
        tiny, {PAGE: MARKED.replace("=start", "=stat"), "docs/guide.md": "a <!--=clips-->\nb <!--=clips-->1<!--/-->\n"}
    )
    assert told(tiny) == [
        ("page-mark", "warning", "docs/guide.md:1", "clips: Expected <!--/--> next, in the same line."),
        ("page-mark", "warning", "docs/guide.md:2", "clips: practice has no list of clips."),
        ("page-mark", "warning", f"{PAGE}:3", "stat: Unknown name; did you mean start?"),
    ]


def test_marks_that_one_mistake_empties_are_told_together(tiny: Path) -> None:
    marks = " ".join(f"a <!--=limits{number}-->1<!--/-->" for number in range(MOST_TOLD + 3))
    write_files(tiny, {PAGE: f"{MARKED}\n{marks.replace('limits', 'no.')}\n", "docs/a.md": "a <!--=clip_s--><!--/-->"})
    (one, two) = told(tiny)
    assert one == ("page-mark", "warning", "docs/a.md:1", "clip_s: practice has no list of clips.")
    assert two[2] == f"{PAGE}:5"
    assert two[3].startswith("no.0, no.1, ")
    assert two[3].endswith(f"no.{MOST_TOLD - 1} and 3 more: Unknown name.")


def test_html_pages_hold_no_marks(tiny: Path) -> None:
    competition = (tiny / "competition.yaml").read_text()
    stale = "<h1>Tiny</h1> on <!--=start-->2029-05-02<!--/-->"
    write_files(
        tiny, {"competition.yaml": competition.replace(PAGE, "pages/overview.html"), "pages/overview.html": stale}
    )
    assert told(tiny) == []


def test_of_a_foreign_zip_no_figure_is_told(tiny: Path) -> None:
    files = {
        "scoring_program/score/columns.py": "open('ran', 'w')",
        "reference_data/practice/task.yaml": "task: practice",
    }
    write_files(tiny, {PAGE: "# Tiny\n\na <!--=resamples-->1<!--/-->\n", **files})
    archive = tiny.parent / "foreign.zip"
    zip_folder(tiny, archive)
    assert [code for code, *_ in told(archive)] == ["program-unasked"]
