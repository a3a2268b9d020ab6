"""Figures on the pages: all are current, and none stands there without a mark but for a reason."""

import re
from pathlib import Path

import pytest
import yaml

from bundle_tools.figures.pages import look_through, open_bundle, told

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "pages").glob("*.md"))
BY_HAND: dict[str, dict[str, list[str]]] = yaml.safe_load(Path(__file__).with_name("by_hand.yaml").read_text("utf-8"))
"""Page -> reason -> pieces of its text whose numbers follow from no setting."""
NOT_TOLD = re.compile(
    r"""
    ^<!--[ ](?P<block>[\w:]+)[ ]-->$.*?^<!--[ ]/(?P=block)[ ]-->$   # generated tables
    | <!--=[^>]*-->[^<\n]*<!--/-->                                  # generated figures
    | ^```.*?^```$ | `[^`\n]*`                                      # code
    | \$\$.+?\$\$ | \$[^$\n]+\$                                     # formulas
    | ^<style>.*?</style>$
    | \]\([^)\s]*\) | https?://\S+                                  # addresses
    | ^(?:\*\*)?\d+\.[ ]                                            # the numbers of a list
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
NUMBER = re.compile(r"\S*\d\S*")
AROUND = "|()[]*.,:;\"'"
ENDS_OF_SCALES = {"0", "1", "-1"}


def prose(page: Path) -> str:
    """Give what people read of a page, in one line, without what is generated, code and formulas."""
    return " ".join(NOT_TOLD.sub(" ", page.read_text("utf-8")).split())


def numbers(text: str) -> list[str]:
    """Give the words that hold a number other than the ends of a scale."""
    return [word for word in NUMBER.findall(text) if word.strip(AROUND) not in ENDS_OF_SCALES]


def without(text: str, piece: str) -> str:
    """Take a piece out, once."""
    pattern = ".*?".join(map(re.escape, piece.split("…")))
    shorter, count = re.subn(pattern, " ", text, count=1)
    # A piece that is gone must not stay in the list, where it would excuse another number one day.
    assert count == 1, piece
    assert numbers(piece), piece
    return shorter


def test_every_figure_is_current() -> None:
    assert [line for page in look_through(open_bundle(ROOT)) for line in told(page)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_figure_stands_on_a_page_without_a_mark(page: Path) -> None:
    text = prose(page)
    for pieces in BY_HAND.get(page.stem, {}).values():
        for piece in pieces:
            text = without(text, piece)
    assert numbers(text) == [], "write marks (docs/developer.md), or add the text to by_hand.yaml with a reason"


def test_a_figure_without_a_mark_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    lines = [
        "1. At most <!--=calls-->12<!--/-->, `13`, $14$ and",
        "[15](https://x/16), but 17 s from 0 to 1.",
        "```sh\n18\n```",
    ]
    page.write_text("\n".join(lines))
    assert numbers(prose(page)) == ["[15", "17"]


def test_the_list_names_pages_that_exist() -> None:
    assert BY_HAND.keys() <= {page.stem for page in PAGES}
