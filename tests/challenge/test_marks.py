"""Marks in Markdown: what stands between them is filled in, nothing else changes, and every mistake is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.challenge.figures.marks import Change, Filled, Table, fill, strip

VALUES = {"calls": "12", "clips.final": "24", "note": "one | two"}
BLOCKS = {"weights": "| a |\n|---|\n| b |", "landmarks:final": "", "one": "line"}


def filled(text: str, value: str | None = None) -> Filled:
    """Fill a text with the values above, or with the same one everywhere."""
    values, blocks = (dict.fromkeys(known, value) if value is not None else known for known in (VALUES, BLOCKS))
    return fill(text, Table(lambda: values), Table(lambda: blocks))


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
def test_filling_twice_is_filling_once_and_every_mark_is_filled_or_told(text: str) -> None:
    once = filled(text)
    twice = filled(once.text)
    assert (twice.text, twice.changes) == (once.text, [])
    assert [problem.what for problem in twice.problems] == [problem.what for problem in once.problems]
    assert (once.text == text) == (once.changes == [])
    lines = [*(change.line for change in once.changes), *(problem.line for problem in once.problems)]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    assert [one.line for one in once.problems] == sorted(one.line for one in once.problems)


@given(TEXTS, st.sampled_from(["9", "<b>"]))
def test_only_what_stands_between_marks_changes(text: str, value: str) -> None:
    # Filled with nothing, a text is the same whatever stood between its marks; the rest is never touched.
    outside = filled(text, "").text
    marked = filled(text, "\0").text
    assert marked.replace("\r\n\0\r\n\r\n", "").replace("\n\0\n\n", "").replace("\0", "") == outside
    assert filled(filled(text, value).text, "").text == outside


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "at most <!--=calls-->**12**<!--/--> and `<!--=calls-->12<!--/-->`\n",
            "at most **12** and `<!--=calls-->12<!--/-->`\n",
        ),
        ("a\n\n<!-- one -->\n\nline\n\n<!-- /one -->\n\nb\n", "a\n\nline\n\nb\n"),
        ("a\r\n\r\n<!-- one -->\r\n\r\nline\r\n\r\n<!-- /one -->\r\n\r\nb\r\n", "a\r\n\r\nline\r\n\r\nb\r\n"),
        ("<!-- one -->\n\n| a |\n\n<!-- /one -->", "| a |"),
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at most <!--=calls-->9<!--/--> calls", "at most <!--=calls-->12<!--/--> calls"),
        ("a <!--=calls--><!--/-->\n", "a <!--=calls-->12<!--/-->\n"),
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
    assert (filled(before).text, filled(before).problems) == (after, [])


def test_a_change_is_told_with_its_line() -> None:
    text = "# Head\n\nat most <!--=calls-->9<!--/-->\n\n<!-- weights -->\n\n| a |\n|---|\n| c |\n\n<!-- /weights -->\n"
    first, second = filled(text).changes
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
    found = filled(text)
    assert [problem.line for problem in found.problems] == [1, 2, 3, 4, 5, 6, 7, 10, 11]
    assert [change.line for change in found.changes] == [1, 3, 9]
    assert "Unknown name." in found.problems[0].what
    assert "<!--/--> next, in the same line" in found.problems[1].what
    assert "closes nothing" in found.problems[3].what
    assert "put a word before it" in found.problems[4].what
    assert "<!-- /weights --> below" in found.problems[6].what
    assert "<!-- weights --> above" in found.problems[7].what


@pytest.mark.parametrize(
    "text",
    ["a <!--=calls-->9\n<!--/-->", "<!-- one -->\nold\n<!-- /weights -->\n", "a <!--=calls-->9\n<!-- /one -->\n"],
)
def test_an_end_of_another_line_or_block_is_none(text: str) -> None:
    found = filled(text)
    assert found.text == text
    assert [problem.line for problem in found.problems] == [1, text.count("\n", 0, text.rindex("<!--")) + 1]


def test_a_forgotten_end_costs_no_text() -> None:
    text = "<!-- one -->\n\nKeep this.\n\n<!-- one -->\n\nold\n\n<!-- /one -->\n"
    assert filled(text).text == text.replace("old", "line")
    assert "Keep this." in filled("<!-- one -->\nKeep this. <!--=calls-->1<!--/-->\n<!-- /one -->\n").text
