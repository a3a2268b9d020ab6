"""Search one file for the ids and the labels of clips, in text and in binary form."""

import codecs
import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath

from bundle_tools.check.secrets.answers import Answers
from bundle_tools.check.secrets.inside import BZIP2, GZIP, XZ, ZIP, File

# Three decimals at least: fewer would meet other numbers by chance.
NUMBER = re.compile(r"(?<![0-9.])-?[0-9]*\.([0-9]{3,})(?:[eE]([-+]?[0-9]{1,3}))?(?![0-9])")
# Two decimals, or a whole number up to 99, alone.
COARSE = re.compile(r"(?<![0-9A-Za-z_.])(?:0?\.([0-9]{2})|([0-9]{1,2}))(?![0-9A-Za-z_]|\.[0-9])")
FEWEST_COARSE_ROWS = 3
# Half the width of the fifth decimal, with room for rounding: so close, one number alone is no chance.
PRECISE = 0.6e-5
# How far from an id a value still belongs to it, in characters; the next id ends it earlier.
NEAR = 600
# A label in single precision differs by up to this.
SINGLE = 6e-8
# Packed bytes hold no words; what an archive holds is searched file by file.
UNREAD = (ZIP, GZIP, BZIP2, XZ)
# Of a larger file, so much of its start and a quarter of that of its end are searched.
LARGEST_SEARCHED = 32_000_000
# Words in binary files, such as tags of pictures and unknown boxes of videos, also with two or four bytes a letter.
SHORTEST_PRINTED = 4
SHORTEST_WIDE = 8
WIDE = re.compile(rb"(?:[\t\n\r -~]\0{1,3}){%d,}" % SHORTEST_WIDE)
LETTERS = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
IS_LETTER = bytes(byte in LETTERS for byte in range(256))
MOST_NUMBERS = 50
# The marks of UTF-32 begin with those of UTF-16.
ENCODED = (
    ("utf-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    ("utf-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)


@dataclass(frozen=True)
class Text:
    """A file as text, read once for all searches."""

    name: str
    """Path relative to the data set's root."""
    text: str
    """Its characters; of a binary file, the runs that can be printed, a line each."""
    binary: bytes
    """The content of a binary file; empty for text."""

    @cached_property
    def thousandths(self) -> list[int]:
        """The numbers of three decimals and more, in their order, in thousandths."""
        return [round(1000 * float(match[0])) for match in NUMBER.finditer(self.text) if _plausible(match)]


def read_text(file: File) -> Text | None:
    """Read a file in whatever encoding; None for archives, whose files are given one by one."""
    content = file.content
    if content.startswith(UNREAD):
        return None
    if len(content) > LARGEST_SEARCHED:
        content = content[:LARGEST_SEARCHED] + b"\n" + content[-LARGEST_SEARCHED // 4 :]
    encoding = next((name for name, marks in ENCODED if content.startswith(marks)), "utf-8-sig")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    return Text(file.name, text, b"") if "\0" not in text else Text(file.name, _printed(content), content)


def numbers_of_clip(file: File, text: Text, answers: Answers) -> str:
    """Give a line of the clip's id and the numbers found in its file, to be searched with those of all clips."""
    clip = answers.clips.get(file.sha256) or PurePosixPath(file.name).stem
    if clip not in answers.rows:
        return ""
    written = [match[0] for match in islice(NUMBER.finditer(text.text), MOST_NUMBERS) if _plausible(match)]
    kept = [value for value in answers.rows[clip] if math.isfinite(value) and not _is_round(value)]
    coded = [repr(value) for value in kept for code in ("<d", ">d") if struct.pack(code, value) in text.binary]
    return " ".join([clip, *written, *coded])


def _printed(content: bytes) -> str:
    wide = [match[0].replace(b"\0", b"") for match in WIDE.finditer(content)] if has_wide_words(content) else []
    return b"\n".join([*printed_words(content), *wide]).decode("ascii")


def printed_words(content: bytes) -> list[bytes]:
    """Give the longest runs of letters; a regular expression takes three times as long."""
    import numpy as np  # noqa: PLC0415

    letters = np.frombuffer(content.translate(IS_LETTER), dtype=bool)
    begins = np.ones(max(0, len(letters) - SHORTEST_PRINTED + 1), dtype=bool)
    for step in range(SHORTEST_PRINTED):
        begins &= letters[step : step + len(begins)]
    # Where a row of beginnings starts and where it stops; the last of them has the shortest word before it.
    bounds = np.flatnonzero(np.diff(begins, prepend=False, append=False)).reshape(-1, 2).tolist()
    return [content[start : stop + SHORTEST_PRINTED - 1] for start, stop in bounds]


def has_wide_words(content: bytes) -> bool:
    """Tell whether `WIDE` would find anything, in a fraction of its time."""
    import numpy as np  # noqa: PLC0415

    # Places behind the end, so that every place has four after it.
    zeros = np.frombuffer(content + b"....", dtype=np.uint8) == 0
    letters = np.flatnonzero(np.frombuffer(content.translate(IS_LETTER), dtype=bool) & zeros[1 : len(content) + 1])
    begins = np.zeros(len(zeros), dtype=bool)
    begins[letters] = True
    for _ in range(SHORTEST_WIDE - 1):
        # One more letter: the next stands behind one to three zeros, the first of which is there already.
        third, fourth = zeros[letters + 2], zeros[letters + 3]
        longer = begins[letters + 2] | third & (begins[letters + 3] | fourth & begins[letters + 4])
        begins[letters] = False
        letters = letters[longer]
        begins[letters] = True
    return bool(letters.size)


def named_ids(text: str, ids: Iterable[str]) -> set[str]:
    """Give the ids that occur as whole words."""
    wanted = frozenset(ids)
    return {match[0] for match in _words(wanted).finditer(text)} & wanted


def labelled_clips(text: str, answers: Answers) -> set[str]:
    """Give the clips beside whose id their own labels stand.

    Three labels of a clip, or one to five decimals, prove it. Single labels to three decimals prove it together: where
    at least three clips and a quarter of all clips that have numbers beside them show one.
    """
    proven, likely, numbered = set(), set(), set()
    for clip, numbers in _neighbours(text, answers.ids):
        numbered.add(clip)
        wanted = [value for value in answers.rows[clip] if math.isfinite(value) and not _is_round(value)]
        widths = {value: width for value in wanted for number, width in numbers if abs(number - value) <= width}
        if widths:
            likely.add(clip)
        if len(widths) >= 3 or any(width < PRECISE for width in widths.values()):
            proven.add(clip)
    return proven | likely if proven or (len(likely) >= 3 and 4 * len(likely) >= len(numbered)) else set()


def holds_labels_in_order(text: Text, answers: Answers) -> bool:
    """Tell whether a run of labels stands there, as written numbers or as binary ones of 32 or 64 bits."""
    if not answers.windows:
        return False
    if not text.binary and holds_coarse_rows(text.text, answers):
        return True
    if _has_run(text.thousandths, answers):
        return True
    # Contributions are looked for as text alone: forty a clip in binary would double the time of the whole search.
    if not text.binary or not answers.in_binary:
        return False
    return any(_has_run(numbers, answers) for numbers in _binary_labels(text.binary, answers))


def holds_coarse_rows(text: str, answers: Answers) -> bool:
    """Tell whether several rows of labels stand there as hundredths or percent, in any order."""
    size = len(next(iter(answers.coarse_rows), ()))
    if not size:
        return False
    numbers = [int(match[1] or match[2]) for match in COARSE.finditer(text)]
    runs = {tuple(numbers[start : start + size]) for start in range(len(numbers) - size + 1)}
    return len(runs & answers.coarse_rows) >= FEWEST_COARSE_ROWS


def _is_round(label: float) -> bool:
    """Tell whether a label is a number such as 0.5, which other numbers meet too often."""
    return abs(100 * label - round(100 * label)) < 1e-6


# A task's labels and contributions are of the same clips: a text is read once for both.
@lru_cache(maxsize=1)
def _neighbours(text: str, ids: frozenset[str]) -> list[tuple[str, list[tuple[float, float]]]]:
    """Give each mention of a clip with the numbers around it, each with half the width of its last digit."""
    marks = [match for match in _words(ids).finditer(text) if match[0] in ids]
    found = []
    ends = [0, *(mark.end() for mark in marks)]
    starts = [*(mark.start() for mark in marks), len(text)]
    for position, mark in enumerate(marks):
        before = text[max(ends[position], mark.start() - NEAR) : mark.start()]
        after = text[mark.end() : min(starts[position + 1], mark.end() + NEAR)]
        numbers = [
            (float(match[0]), max(0.5001 * 10.0 ** (int(match[2] or 0) - len(match[1])), SINGLE))
            for piece in (before, after)
            for match in NUMBER.finditer(piece)
            if _plausible(match)
        ]
        if numbers:
            found.append((mark[0], [(value, width) for value, width in numbers if width < 0.6e-3]))
    return found


def _words(ids: Iterable[str]) -> re.Pattern[str]:
    # Where no id holds _ or -, these separate words, as in c7f3a90b1_0.431.mp4.
    plain = all(name.isalnum() for name in ids)
    return re.compile(r"[A-Za-z0-9]+" if plain else r"[A-Za-z0-9_-]+")


def _plausible(match: re.Match[str]) -> bool:
    return len(match[0]) <= 40 and abs(int(match[2] or 0)) <= 12


def _has_run(numbers: list[int], answers: Answers) -> bool:
    return any(
        tuple(numbers[start : start + size]) in answers.windows
        for size in answers.window_sizes
        for start in range(len(numbers) - size + 1)
    )


def _binary_labels(content: bytes, answers: Answers) -> Iterator[list[int]]:
    """Give the labels found bit by bit in the content, in their order, for each kind of binary number.

    Any offset counts: a pickle holds its numbers between other bytes. A table of the two most significant bytes first
    leaves a few positions to be looked at whole.
    """
    import numpy as np  # noqa: PLC0415

    for order, codes in answers.coded.items():
        # Every two bytes that stand side by side.
        pairs = np.ndarray((max(0, len(content) - 1),), f"{order}u2", content, strides=(1,))
        places = np.flatnonzero(codes.leading[pairs]).tolist()
        for size, thousandths in codes.thousandths.items():
            before = size - 2 if order == "<" else 0
            starts = (place - before for place in places if place >= before)
            found = (thousandths.get(content[start : start + size]) for start in starts)
            yield [value for value in found if value is not None]
