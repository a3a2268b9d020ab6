"""Marks in Markdown: HTML comments, which nobody sees, around what is computed.

A figure stands inside a line, as in ``at most <!--=calls-->12<!--/--> calls``. A block, such as a table, stands between
a line ``<!-- weights -->`` and a line ``<!-- /weights -->``. In code there are no marks.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

# Code comes first: what looks like a mark in it is none.
TOKEN = re.compile(
    r"""
    (?P<code> ^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ ]{0,3}(?P=fence)|\Z)
      | (?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`) )
    | <!--=(?P<name>[^<>\n]*?)-->
    | (?P<close><!--/-->)
    | ^<!--[ ](?P<slash>/?)(?P<block>[\w:.-]+)[ ]-->(?=[ \t]*\r?$)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# What may stand before a comment that Markdown takes for a line of HTML: a list, a quotation.
START = re.compile(r"(?:\s|>|[-*+]\s|\d+[.)]\s)*")
# What goes with the mark of a block: the end of its line where that is left, and one empty line.
REST_OF_BLOCK = re.compile(r"(?<!\n)[ \t]*\r?\n(?:[ \t]*\r?\n)?|[ \t]*\r?\n")
LONGEST_TOLD = 60
BEFORE = 20


class FigureError(Exception):
    """A name that stands for nothing here; the message says why, and perhaps what was meant."""


@dataclass(frozen=True)
class Figures:
    """What can stand between marks."""

    inline: Callable[[str], str]
    """From a name to a text within a line; raises FigureError."""
    block: Callable[[str], str]
    """From a name to lines, empty where there are none; raises FigureError."""
    blocks: Collection[str]
    """Names of blocks, without what follows a colon."""


@dataclass(frozen=True)
class Change:
    """A mark whose content is not what it should be."""

    line: int
    """Where the difference begins, from 1, before anything is changed."""
    name: str
    """Of the figure or block."""
    found: str
    """What stands there: the figure, or the first line that differs."""
    expected: str
    """What should stand there."""

    def __str__(self) -> str:
        # Long lines are told from a little before they differ.
        pairs = enumerate(zip(self.found, self.expected, strict=False))
        same = max(0, next((at for at, (one, other) in pairs if one != other), 0) - BEFORE)
        return f"{self.name} {_told(self.found, same)} -> {_told(self.expected, same)}"


@dataclass(frozen=True)
class Problem:
    """A mark that cannot be filled."""

    line: int
    """From 1."""
    name: str
    """What the mark says."""
    what: str
    """What is wrong, as a sentence."""


@dataclass(frozen=True)
class Filled:
    """A text with all figures that are known."""

    text: str
    """The same but for what stands between marks."""
    changes: tuple[Change, ...]
    """In the order of the text."""
    problems: tuple[Problem, ...]
    """In the order of the text; these marks are left as they are."""


@dataclass(frozen=True)
class _Mark:
    """A comment that is a mark."""

    start: int
    """Position of its first character."""
    end: int
    """Position after its last character; of the beginning of a block, after its line."""
    line: int
    """From 1."""
    name: str
    """Empty at the end of a figure."""
    block: bool
    """Whether it belongs to a block."""
    closes: bool
    """Whether something ends here."""
    first: bool = False
    """Whether a figure stands where Markdown expects HTML."""


def fill(text: str, figures: Figures) -> Filled:
    """Put current figures between all marks of a text.

    Filling a second time changes nothing, and what stands outside marks never changes.

    Parameters
    ----------
    text
        Markdown.
    figures
        What can stand between marks.
    """
    pieces, done = [], 0
    changes: list[Change] = []
    problems: list[Problem] = []
    for opening, closing in _pairs(list(_marks(text, figures.blocks))):
        try:
            expected = _expected(text, opening, closing, figures)
        except FigureError as error:
            problems.append(Problem(opening.line, opening.name, str(error)))
            continue
        found = text[opening.end : closing.start]
        if found != expected:
            change = Change(opening.line, opening.name, found, expected)
            changes.append(_first_difference(change) if opening.block else change)
            pieces += [text[done : opening.end], expected]
            done = closing.start
    return Filled("".join([*pieces, text[done:]]), tuple(changes), tuple(problems))


def strip(text: str) -> str:
    """Take the marks out of a text, for readers who see Markdown as it is written; what stands between them stays.

    Parameters
    ----------
    text
        Markdown. Comments in code, and those that mark nothing, stay too.
    """
    pieces, done = [], 0
    for pair in _pairs(list(_marks(text, ()))):
        if pair[0] is pair[1]:
            continue
        for mark in pair:
            pieces.append(text[done : mark.start])
            done = mark.end
            if mark.block and (rest := REST_OF_BLOCK.match(text, done)):
                done = rest.end()
    return "".join([*pieces, text[done:]])


def _pairs(marks: list[_Mark]) -> Iterator[tuple[_Mark, _Mark]]:
    """Give every mark that opens with the one that closes it; a mark that has none is paired with itself."""
    at = 0
    while at < len(marks):
        one = marks[at]
        other = marks[at + 1] if at + 1 < len(marks) else one
        # Nothing stands between the two: what is between marks is replaced, and no text may be lost with it.
        matches = other.closes and not one.closes and one.block == other.block
        if matches and (one.name == other.name if one.block else one.line == other.line):
            yield one, other
            at += 2
        else:
            yield one, one
            at += 1


def _expected(text: str, opening: _Mark, closing: _Mark, figures: Figures) -> str:
    """Give what belongs between two marks."""
    if opening is closing:
        if not opening.block:
            raise FigureError("It closes nothing." if opening.closes else "Expected <!--/--> next, in the same line.")
        slash, where = ("", "above") if opening.closes else ("/", "below")
        raise FigureError(f"Expected <!-- {slash}{opening.name} --> {where}, and no mark between; found none.")
    if opening.first:
        raise FigureError("It begins a line, which Markdown then takes for HTML: put a word before it.")
    if not opening.block:
        return figures.inline(opening.name)
    content = figures.block(opening.name)
    end = "\r\n" if text[: opening.end].endswith("\r\n") else "\n"
    return end + "".join(line + end for line in [*content.splitlines(), ""]) if content else ""


def _marks(text: str, blocks: Collection[str]) -> Iterator[_Mark]:
    found = [match for match in TOKEN.finditer(text) if match["code"] is None]
    closed = {match["block"] for match in found if match["slash"]}
    line, counted, begins, seen = 1, 0, 0, -1
    for match in found:
        line += text.count("\n", counted, match.start())
        begins = max(begins, text.rfind("\n", counted, match.start()) + 1)
        counted = match.start()
        block = match["block"]
        if block is None:
            # Only the first mark of a line can stand at its beginning.
            first = begins != seen and match["close"] is None and bool(START.fullmatch(text, begins, match.start()))
            seen = begins
            yield _Mark(*match.span(), line, match["name"] or "", False, match["close"] is not None, first)
        elif match["slash"]:
            yield _Mark(*match.span(), line, block, True, True)
        elif block in closed or block.partition(":")[0] in blocks:
            # Any other comment of one word is just a comment.
            after = text.find("\n", match.end()) + 1 or len(text)
            yield _Mark(match.start(), after, line, block, True, False)


def _first_difference(change: Change) -> Change:
    """Name the first line of a block that differs."""
    there = change.found.splitlines()
    lines = list(zip_longest(there, change.expected.splitlines(), fillvalue=""))
    at = next((at for at, (found, expected) in enumerate(lines) if found != expected), 0)
    return replace(change, line=change.line + 1 + min(at, len(there)), found=lines[at][0], expected=lines[at][1])


def _told(content: str, same: int) -> str:
    text = f"…{content[same:]}" if same and len(content) > LONGEST_TOLD else content or "nothing"
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"
