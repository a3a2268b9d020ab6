"""Marks in Markdown: what stands between them is filled in, nothing else changes, and every mistake is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.figures.marks import Change, FigureError, Figures, fill, strip

INLINE = {"calls": "12", "clips.final": "24", "note": "one | two"}
BLOCKS = {"weights": "| a |\n|---|\n| b |", "landmarks:final": "", "one": "line"}


def lookup(table: dict[str, str], name: str) -> str:
    if name not in table:
        raise FigureError("Unknown name.")
    return table[name]


FIGURES = Figures(lambda name: lookup(INLINE, name), lambda name: lookup(BLOCKS, name), {"weights", "landmarks", "one"})

# Whatever an author may write, whole and broken marks among it.
PIECES = st.sampled_from(
    [
        *("<!--=calls-->", "<!--=clips.final-->", "<!--=unknown-->", "<!--/-->", "<!-- todo -->", "<!--", "-->"),
        *("<!-- weights -->\n", "<!-- /weights -->\n", "<!-- landmarks:final -->\n", "<!-- /landmarks:final -->\n"),
        *("\n<!-- one -->\r\n", "<!-- /one -->\r\n", "<!-- /other -->", "<!-- other -->\n"),
        *("\n", "\r\n", "\n\n", "text ", "| 7 |", "12", "`", "```\n", "- ", "> ", " "),
    ]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)


@given(TEXTS)
def test_filling_twice_is_filling_once(text: str) -> None:
    once = fill(text, FIGURES)
    twice = fill(once.text, FIGURES)
    assert (twice.text, twice.changes) == (once.text, ())
    assert [problem.what for problem in twice.problems] == [problem.what for problem in once.problems]


@given(TEXTS, st.sampled_from(["9", "", "<b>"]))
def test_only_what_stands_between_marks_changes(text: str, value: str) -> None:
    def pieces(figures: Figures) -> str:
        return fill(text, figures).text

    first = pieces(Figures(lambda _: "\0", lambda _: "\0", FIGURES.blocks))
    # Filled with nothing, a text is the same whatever stood between its marks; the rest is never touched.
    outside = pieces(Figures(lambda _: "", lambda _: "", FIGURES.blocks))
    assert first.replace("\r\n\0\r\n\r\n", "").replace("\n\0\n\n", "").replace("\0", "") == outside
    marked = pieces(Figures(lambda _: value, lambda _: value, FIGURES.blocks))
    assert fill(marked, Figures(lambda _: "", lambda _: "", FIGURES.blocks)).text == outside


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "at most <!--=calls-->**12**<!--/--> and `<!--=calls-->12<!--/-->`\n",
            "at most **12** and `<!--=calls-->12<!--/-->`\n",
        ),
        ("a\n\n<!-- one -->\n\nline\n\n<!-- /one -->\n\nb\n", "a\n\nline\n\nb\n"),
        ("a\r\n\r\n<!-- one -->\r\n\r\nline\r\n\r\n<!-- /one -->\r\nb\r\n", "a\r\n\r\nline\r\n\r\nb\r\n"),
        ("<!-- one -->\n\n| a |\n\n<!-- /one -->", "| a |\n\n"),
        (
            "```\n<!-- one -->\n<!-- /one -->\n```\n<!-- note -->\n",
            "```\n<!-- one -->\n<!-- /one -->\n```\n<!-- note -->\n",
        ),
        ("<!--/--> <!--=calls--> <!-- /one -->\n", "<!--/--> <!--=calls--> <!-- /one -->\n"),
    ],
    ids=["inline", "block", "windows", "end", "code", "broken"],
)
def test_marks_are_taken_out_and_what_they_mark_stays(text: str, read: str) -> None:
    assert strip(text) == read


@given(TEXTS)
def test_without_marks_nothing_but_marks_and_empty_lines_is_missing(text: str) -> None:
    once = strip(text)
    assert once.count("text") == text.count("text")
    assert once.count("12") == text.count("12")
    assert once == text or "<!--" in text


@given(TEXTS)
def test_every_mark_is_filled_or_told(text: str) -> None:
    filled = fill(text, FIGURES)
    assert (filled.text == text) == (filled.changes == ())
    lines = [change.line for change in filled.changes] + [problem.line for problem in filled.problems]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    assert [one.line for one in filled.problems] == sorted(one.line for one in filled.problems)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at most <!--=calls-->9<!--/--> calls", "at most <!--=calls-->12<!--/--> calls"),
        ("a <!--=calls--><!--/-->\n", "a <!--=calls-->12<!--/-->\n"),
        ("| **<!--=clips.final-->1<!--/-->** | 1 |", "| **<!--=clips.final-->24<!--/-->** | 1 |"),
        ("a `<!--=calls-->9<!--/-->` b", "a `<!--=calls-->9<!--/-->` b"),
        ("```\na <!--=calls-->9<!--/-->\n```\n", "```\na <!--=calls-->9<!--/-->\n```\n"),
        ("<!-- todo -->\n", "<!-- todo -->\n"),
        ("<!-- one -->\n<!-- /one -->", "<!-- one -->\n\nline\n\n<!-- /one -->"),
        ("<!-- one -->\r\nold\r\n<!-- /one -->\r\n", "<!-- one -->\r\n\r\nline\r\n\r\n<!-- /one -->\r\n"),
        ("<!-- landmarks:final -->\nold\n<!-- /landmarks:final -->",
         "<!-- landmarks:final -->\n<!-- /landmarks:final -->"),
        ("a <!--=calls-->\\1<!--/-->", "a <!--=calls-->12<!--/-->"),
        ("a ``<!--=calls-->9<!--/-->`` b", "a ``<!--=calls-->9<!--/-->`` b"),
        ("~~~\na <!--=calls-->9<!--/-->\n~~~\n", "~~~\na <!--=calls-->9<!--/-->\n~~~\n"),
        ("````\n```\na <!--=calls-->9<!--/-->\n```\n````\n", "````\n```\na <!--=calls-->9<!--/-->\n```\n````\n"),
        ("```x``` a\nb <!--=calls-->9<!--/-->\n", "```x``` a\nb <!--=calls-->12<!--/-->\n"),
        ("<!-- one --> \nold\n<!-- /one -->", "<!-- one --> \n\nline\n\n<!-- /one -->"),
    ],
)  # fmt: skip
def test_what_is_filled(before: str, after: str) -> None:
    filled = fill(before, FIGURES)
    assert filled.text == after
    assert filled.problems == ()


def test_a_change_is_told_with_its_line() -> None:
    text = "# Head\n\nat most <!--=calls-->9<!--/-->\n\n<!-- weights -->\n\n| a |\n|---|\n| c |\n\n<!-- /weights -->\n"
    first, second = fill(text, FIGURES).changes
    assert (first.line, str(first)) == (3, "calls 9 -> 12")
    assert (second.line, str(second)) == (9, "weights | c | -> | b |")


def test_long_lines_are_told_where_they_differ() -> None:
    change = Change(1, "columns", f"| {'x' * 200} | old |", f"| {'x' * 200} | new |")
    assert str(change) == f"columns …{'x' * 17} | old | -> …{'x' * 17} | new |"
    change = Change(1, "columns", "a" * 200, "b" * 200)
    assert str(change) == f"columns {'a' * 59}… -> {'b' * 59}…"


def test_all_mistakes_are_told_at_once_and_the_rest_is_filled() -> None:
    text = "\n".join(
        [
            "a <!--=nothing-->1<!--/--> and <!--=calls-->9<!--/-->",
            "b <!--=calls-->9, and no end",
            "c <!--=calls-->9 <!--=calls-->9<!--/-->",
            "d <!--/-->",
            "<!--=calls-->9<!--/--> calls",
            "- <!--=calls-->9<!--/--> calls",
            "<!-- weights -->",
            "<!-- one -->",
            "<!-- /one -->",
            "<!-- /weights -->",
            "<!-- unknown -->",
            "<!-- /unknown -->",
        ]
    )
    filled = fill(text, FIGURES)
    assert [problem.line for problem in filled.problems] == [1, 2, 3, 4, 5, 6, 7, 10, 11]
    assert [change.line for change in filled.changes] == [1, 3, 9]
    assert "Unknown name." in filled.problems[0].what
    assert "<!--/--> next, in the same line" in filled.problems[1].what
    assert "closes nothing" in filled.problems[3].what
    assert "put a word before it" in filled.problems[4].what
    assert "<!-- /weights --> below" in filled.problems[6].what
    assert "<!-- weights --> above" in filled.problems[7].what


@pytest.mark.parametrize(
    "text",
    ["a <!--=calls-->9\n<!--/-->", "<!-- one -->\nold\n<!-- /weights -->\n", "a <!--=calls-->9\n<!-- /one -->\n"],
)
def test_an_end_of_another_line_or_block_is_none(text: str) -> None:
    filled = fill(text, FIGURES)
    assert filled.text == text
    assert [problem.line for problem in filled.problems] == [1, text.count("\n", 0, text.rindex("<!--")) + 1]


def test_a_forgotten_end_costs_no_text() -> None:
    text = "<!-- one -->\n\nKeep this.\n\n<!-- one -->\n\nold\n\n<!-- /one -->\n"
    assert fill(text, FIGURES).text == text.replace("old", "line")
    assert "Keep this." in fill("<!-- one -->\nKeep this. <!--=calls-->1<!--/-->\n<!-- /one -->\n", FIGURES).text
