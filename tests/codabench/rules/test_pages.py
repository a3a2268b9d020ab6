"""Addresses in pages: all forms are found, no false alarm, and one pass whatever the page holds."""

import time
from pathlib import Path

import pytest

from bundle_tools.challenge.check import check
from bundle_tools.codabench import trust
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.rules.texts import MOST_TOLD, linked, loaded
from tests.tiny import write_files

PAGE = "pages/overview.md"
UNKNOWN = trust._unknown
"""As it is, before tests trust all bundles."""


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
        "<!-- bundle pages: a.md.j2 ",
        "",
    ],
    ids=repr,
)
def test_a_page_of_any_shape_is_read_in_one_pass(tiny: Path, piece: str) -> None:
    size = 100_000
    page = (
        piece * (size // len(piece)) if piece else " " * (size * 6 // 10) + "<!-- bundle pages: a 1 -->" * (size // 65)
    )
    write_files(tiny, {PAGE: page})
    started = time.process_time()
    check(tiny)
    # A tenth of a second; in quadratic time it would be ten.
    assert time.process_time() - started < 2


def test_a_page_of_broken_links_is_told_shortly(tiny: Path) -> None:
    write_files(tiny, {PAGE: "".join(f"[x](page{number}.md)\n" for number in range(1000))})
    found = [finding.what for finding in check(tiny) if finding.code == "page-link"]
    assert len(found) == MOST_TOLD
    assert any(what.endswith("'page19.md' and 980 more.") for what in found)


def test_of_a_foreign_zip_no_page_is_rendered(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_unknown", UNKNOWN)
    files: dict[str, str | bytes] = {
        "scoring_program/score/columns.py": "open('ran', 'w')",
        "reference_data/practice/task.yaml": "task: practice",
        PAGE: "# Tiny\n\n<!-- bundle pages: overview.md.j2 0123456789ab -->\n",
    }
    write_files(tiny, files)
    archive = tiny.parent / "foreign.zip"
    zip_folder(tiny, archive)
    assert [finding.code for finding in check(archive)] == ["program-unasked"]
