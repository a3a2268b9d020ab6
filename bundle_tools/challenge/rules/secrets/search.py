"""Search one file for the ids and the labels of clips."""

import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath

import numpy as np

from bundle_tools.challenge.rules.secrets.answers import Answers
from bundle_tools.challenge.rules.secrets.inside import GZIP, ZIP, File

# At least three decimals; fewer would match other numbers by chance.
NUMBER = re.compile(r"(?<![0-9.])-?[0-9]*\.([0-9]{3,})(?:[eE]([-+]?[0-9]{1,3}))?(?![0-9])")
# Half the width of the fifth decimal, with room for rounding: even one number this close is not chance.
PRECISE = 0.6e-5
# Largest distance in characters at which a value belongs to an id; the next id ends it earlier.
NEAR = 600
# A label in single precision differs by up to this.
SINGLE = 6e-8
# Larger files are searched for this much at the start, and a quarter of it at the end.
LARGEST_SEARCHED = 32_000_000
# Words in binary files, such as tags of pictures and unknown boxes of videos.
PRINTED = re.compile(rb"[\t\n\r -~]{4,}")
NUMPY = b"\x93NUMPY"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
MOST_NUMBERS = 50


@dataclass(frozen=True)
class Text:
    """A file as text, read once for all searches."""

    name: str
    """Path relative to the data set's root."""
    text: str
    """Its text; for a binary file its printable runs, one per line; for an array its numbers."""
    binary: bool = False

    @cached_property
    def thousandths(self) -> list[int]:
        """The numbers with three or more decimals, in order, in thousandths."""
        return [round(1000 * float(match[0])) for match in NUMBER.finditer(self.text) if _plausible(match)]


def read_text(file: File) -> Text | None:
    """Read a text, a NumPy array, or the words in a binary file; None for archives, whose files are read one by one."""
    content = file.content
    if content.startswith((ZIP, GZIP)):
        return None
    if len(content) > LARGEST_SEARCHED:
        content = content[:LARGEST_SEARCHED] + b"\n" + content[-LARGEST_SEARCHED // 4 :]
    if content.startswith(NUMPY):
        return Text(file.name, _array(file.content), binary=True)
    try:
        text = content.decode("utf-16" if content.startswith(UTF16) else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return Text(file.name, text)
    return Text(file.name, b"\n".join(PRINTED.findall(content)).decode("ascii"), binary=True)


def _array(content: bytes) -> str:
    """Write the numbers of a .npy file as text, up to the searched length."""
    try:
        numbers = np.load(io.BytesIO(content), allow_pickle=False).ravel()[: LARGEST_SEARCHED // 10].tolist()
    except (ValueError, OSError, EOFError, MemoryError):
        return ""
    return "\n".join(f"{number:.6f}" for number in numbers if isinstance(number, float))


def numbers_of_clip(file: File, text: Text, answers: Answers) -> str:
    """Return a line of the clip's id and the numbers found in its file, to be searched with those of all clips."""
    clip = answers.clips.get(file.sha256) or PurePosixPath(file.name).stem
    if clip not in answers.rows:
        return ""
    written = [match[0] for match in islice(NUMBER.finditer(text.text), MOST_NUMBERS) if _plausible(match)]
    return " ".join([clip, *written])


def named_ids(text: str, ids: Iterable[str]) -> set[str]:
    """Return the ids that occur as whole words."""
    wanted = frozenset(ids)
    return {match[0] for match in _words(wanted).finditer(text)} & wanted


def labelled_clips(text: str, answers: Answers) -> set[str]:
    """Return the clips whose own labels occur next to their ids.

    Three labels of a clip, or one with five decimals, are proof. So are single labels with three decimals, if at least
    three clips have one, and a quarter of all clips that have numbers next to their ids.
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
    """Return whether the text contains a run of labels."""
    return any(
        tuple(text.thousandths[start : start + size]) in answers.windows
        for size in answers.window_sizes
        for start in range(len(text.thousandths) - size + 1)
    )


def _is_round(label: float) -> bool:
    """Return whether a label is a round number such as 0.5, which occurs too often."""
    return abs(100 * label - round(100 * label)) < 1e-6


# A task's labels and contributions have the same clips, so a text is read once for both.
@lru_cache(maxsize=1)
def _neighbours(text: str, ids: frozenset[str]) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return each mention of a clip with the numbers around it, each with half the width of its last digit."""
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
    # If no id contains _ or -, these separate words, as in c7f3a90b1_0.431.mp4.
    plain = all(name.isalnum() for name in ids)
    return re.compile(r"[A-Za-z0-9]+" if plain else r"[A-Za-z0-9_-]+")


def _plausible(match: re.Match[str]) -> bool:
    return len(match[0]) <= 40 and abs(int(match[2] or 0)) <= 12
