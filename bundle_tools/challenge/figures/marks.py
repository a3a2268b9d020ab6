"""Marks in Markdown: invisible HTML comments around computed content.

A figure stands inside a line, as in ``at most <!--=calls-->12<!--/--> calls``. A block, such as a table, stands between
a line ``<!-- weights -->`` and a line ``<!-- /weights -->``. Code contains no marks.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import zip_longest

# Code comes first, because a mark in it does not count. `start` is what may precede a comment that Markdown takes for a
# line of HTML: a list or quotation sign. No mark stands between the two marks of a pair, so that no text is lost.
MARK = re.compile(
    r"""
    (?P<code> ^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ ]{0,3}(?P=fence)|\Z)
      | (?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`) )
    | (?P<start>^(?:[ \t>]|[-*+][ \t]|\d+[.)][ \t])*)?
      <!--=(?P<name>[^<>\n]*?)-->(?P<figure>(?:(?!<!--)[^\n])*)<!--/-->
    | ^<!--[ ](?P<block>[\w:.-]+)[ ]-->[ \t]*(?P<end>\r?\n)(?P<lines>(?:(?!<!--).)*)^<!--[ ]/(?P=block)[ ]-->
    | (?P<alone> <!--=[^<>\n]*--> | <!--/--> | ^<!--[ ]/?[\w:.-]+[ ]-->(?=[ \t]*\r?$) )
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
LONGEST_TOLD = 60
BEFORE = 20


class FigureError(Exception):
    """A name without a figure; the message says why, and may suggest another name."""


@dataclass(frozen=True)
class Change:
    """A mark with outdated content."""

    line: int
    """Line where the difference begins, from 1, in the original text."""
    name: str
    found: str
    """The page's figure, or the first line that differs."""
    expected: str
    """What the page should have."""

    def __str__(self) -> str:
        # Long lines are shown from just before they differ.
        pairs = enumerate(zip(self.found, self.expected, strict=False))
        same = max(0, next((at for at, (one, other) in pairs if one != other), 0) - BEFORE)
        return f"{self.name} {_told(self.found, same)} -> {_told(self.expected, same)}"


@dataclass(frozen=True)
class Problem:
    """A mark that cannot be filled."""

    line: int
    """From 1."""
    name: str
    what: str
    """What is wrong, as a sentence."""

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


@dataclass(frozen=True)
class Filled:
    """A text with all figures that are known."""

    text: str
    """The same except between marks."""
    changes: list[Change]
    """In the order of the text."""
    problems: list[Problem]
    """In the order of the text; these marks are left unchanged."""


class Table:
    """The contents of marks of one kind; computed on first use."""

    def __init__(self, make: Callable[[], Mapping[str, str | FigureError]]) -> None:
        self._make = make

    @cached_property
    def known(self) -> Mapping[str, str | FigureError]:
        """Name -> text, or the reason why there is none."""
        return self._make()

    def find(self, name: str) -> str:
        """Return the text of a name; raise FigureError if there is none."""
        found = self.known[name] if name in self.known else self._why_not(name)
        if isinstance(found, FigureError):
            raise found
        return found

    @cache  # noqa: B019 - a table lives as long as a command
    def _why_not(self, name: str) -> FigureError:
        # If a family of names could not be computed, the reason is stored under their common prefix.
        family = self.known.get(name.partition(".")[0])
        if isinstance(family, FigureError):
            return family
        close = get_close_matches(name, self.known, n=1)
        return FigureError(f"Unknown name; did you mean {close[0]}?" if close else "Unknown name.")


def fill(text: str, values: Table, blocks: Table) -> Filled:
    """Put current figures between all marks of a text.

    Filling a second time changes nothing, and text outside marks never changes.

    `blocks`: blocks of lines; an empty text is no line.
    """
    line_ends = [match.start() for match in re.finditer("\n", text)]
    changes: list[Change] = []
    problems: list[Problem] = []

    def put(mark: re.Match[str]) -> str:
        if mark["code"] is not None:
            return mark[0]
        line = bisect_left(line_ends, mark.start()) + 1
        name = mark["name"] or mark["block"] or (mark["alone"] or "").strip("<!-=/> ")
        try:
            expected = _expected(mark, name, values, blocks)
        except FigureError as error:
            problems.append(Problem(line, name, str(error)))
            return mark[0]
        if expected is None:
            return mark[0]
        begin, end = mark.span("figure" if mark["lines"] is None else "lines")
        if text[begin:end] != expected:
            change = Change(line, name, text[begin:end], expected)
            changes.append(change if mark["lines"] is None else _first_difference(change))
        return text[mark.start() : begin] + expected + text[end : mark.end()]

    return Filled(MARK.sub(put, text), changes, problems)


def strip(text: str) -> str:
    """Remove the marks from a text, for readers of plain Markdown, but keep the text between them."""

    def content(mark: re.Match[str]) -> str:
        if mark["lines"] is not None:
            return mark["lines"].strip("\r\n")
        return mark[0] if mark["figure"] is None else (mark["start"] or "") + mark["figure"]

    return MARK.sub(content, text)


def _expected(mark: re.Match[str], name: str, values: Table, blocks: Table) -> str | None:
    """Return what belongs between two marks; None if the comment is not a mark."""
    alone = mark["alone"]
    if alone is not None and alone.startswith("<!-- "):
        closes = alone.startswith("<!-- /")
        if not closes and name not in blocks.known:
            return None
        slash, where = ("", "above") if closes else ("/", "below")
        raise FigureError(f"Expected <!-- {slash}{name} --> {where}, and no mark between; found none.")
    if alone is not None:
        raise FigureError("Expected <!--/--> next, in the same line." if name else "It closes nothing.")
    if mark["start"] is not None:
        raise FigureError("It begins a line, which Markdown then takes for HTML: put a word before it.")
    if mark["lines"] is None:
        return values.find(name)
    content, end = blocks.find(name), mark["end"]
    return end + "".join(line + end for line in [*content.splitlines(), ""]) if content else ""


def _first_difference(change: Change) -> Change:
    """Return the first line of a block that differs."""
    there = change.found.splitlines()
    lines = list(zip_longest(there, change.expected.splitlines(), fillvalue=""))
    at = next((at for at, (found, expected) in enumerate(lines) if found != expected), 0)
    return Change(change.line + 1 + min(at, len(there)), change.name, *lines[at])


def _told(content: str, same: int) -> str:
    text = f"…{content[same:]}" if same and len(content) > LONGEST_TOLD else content or "nothing"
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"
