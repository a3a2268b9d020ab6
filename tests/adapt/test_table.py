"""Tables as people have them."""

import math

import pytest

from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.table import number, read_table


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_separator_is_recognised(separator: str, mark: bytes, end: str) -> None:
    lines = [["clip", "warmth"], ["a.mp4", "0.5"], [], ["b.mp4", " 1 "]]
    problems = Problems()
    table = read_table(mark + end.join(separator.join(line) for line in lines).encode(), "t.csv", problems)
    assert table is not None
    assert not problems
    assert table.columns == ("clip", "warmth")
    assert table.rows == ((2, {"clip": "a.mp4", "warmth": "0.5"}), (4, {"clip": "b.mp4", "warmth": "1"}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty tables"),
        (b"clip\xff\n", "not UTF-8 (1): t.csv (byte 4)"),
        (b"name,warmth\na,1\n", "columns clip missing; found name, warmth"),
        (b"clip,clip\na,1\n", "a column twice"),
        (b'clip,warmth\na,"1\n', "broken quotes"),
        (b"clip,warmth\na,1,2\nb,2\nc\n", "than the header (2): t.csv:2; t.csv:4"),
    ],
)
def test_every_problem_is_named(content: bytes, said: str) -> None:
    problems = Problems()
    read_table(content, "t.csv", problems, wanted=("clip",))
    assert said in "\n".join(problems.lines())


@pytest.mark.parametrize(
    ("text", "separator", "value"),
    [
        ("0.5", ",", 0.5),
        ("0,5", ";", 0.5),
        ("0,5", ",", math.nan),
        ("1e-2", ";", 0.01),
        ("1_0", ";", math.nan),
        ("inf", ";", math.nan),
        ("", ";", math.nan),
        ("1.000,5", ";", math.nan),
        ("٣", ";", math.nan),
    ],
)
def test_numbers(text: str, separator: str, value: float) -> None:
    assert number(text, separator) == pytest.approx(value, nan_ok=True)
