"""The secrets of a task, which are the labels and ids of its clips, and the search of a file for them."""

import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath

import numpy as np

from bundle_tools.challenge.reading.inside import GZIP, LARGEST_FILE, ZIP, File
from bundle_tools.challenge.reading.tables import (
    LABELS,
    SETTINGS,
    numbers,
    read_clips,
    read_contributions,
    read_copies,
    read_labels,
    read_settings,
    read_table,
)
from bundle_tools.codabench.rules.dataset import DataFiles, find, opened
from bundle_tools.codabench.rules.document import ParsedBundle

# A column of labels is recognised by this many values one after the other, to three decimals: 10,000 other numbers in
# [0, 1] hold one of 100 such runs by chance once in 10^12 files; rows of only four values, once in 10^6.
WINDOW = 6
SHORTEST_WINDOW = 4
FEWEST_ROWS = 4
LARGEST_TABLE = 20_000_000
# A copy of a longer column contains its beginning; comparing later runs would take long.
MOST_WINDOWED_ROWS = 50_000
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
class HiddenAnswers:
    """The secrets of one task whose labels are hidden."""

    place: str
    """The reference data as competition.yaml names it."""
    inputs: str
    """The input data as competition.yaml names it; empty without one."""
    ours: bool
    """Whether the task has this project's format, in which no file outside its input data may name its clips."""
    rows: dict[str, tuple[float, ...]]
    """Clip id -> its labels in the order of the table; NaN if a label is not a number."""
    clips: dict[str, str] = field(default_factory=dict)
    """SHA-256 of a clip's file, or of a copy's -> its id, as the lists say; empty in other formats."""
    starts: dict[str, str] = field(default_factory=dict)
    """Hash of a clip's first coded pictures -> clip id: it identifies a clip in any container."""
    shared: frozenset[str] = frozenset()
    """Ids that clips of open sets also have."""
    what: str = "labels"
    """Meaning of the numbers of a row: labels, or contributions, which reveal as much."""

    @cached_property
    def windows(self) -> frozenset[tuple[int, ...]]:
        """Runs of labels in thousandths: along every column in the table's order, and along every row."""
        table = list(islice(self.rows.values(), MOST_WINDOWED_ROWS))
        if len(table) < FEWEST_ROWS:
            return frozenset()
        size = min(WINDOW, len(table))
        runs: list[tuple[float, ...]] = []
        for column in zip(*table, strict=True):
            runs += [column[start : start + size] for start in range(len(column) - size + 1)]
        if len(table[0]) >= SHORTEST_WINDOW:
            runs += [row[:WINDOW] for row in table]
        thousandths = {tuple(round(1000 * value) for value in run) for run in runs if all(map(math.isfinite, run))}
        # Equal, round or few different values, such as classes, prove nothing.
        return frozenset(
            run for run in thousandths if len(set(run)) >= SHORTEST_WINDOW and any(value % 10 for value in run)
        )

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the clips."""
        return frozenset(self.rows)

    @cached_property
    def window_sizes(self) -> frozenset[int]:
        """The lengths of these runs."""
        return frozenset(map(len, self.windows))

    @cached_property
    def telling_ids(self) -> frozenset[str]:
        """The ids that are unique and not an everyday word or number."""
        names = self.rows.keys() - self.shared
        return frozenset(name for name in names if len(name) >= 6 and any(map(str.isdigit, name)))


def hidden_answers(bundle: ParsedBundle) -> list[HiddenAnswers]:
    """Read the labels of all tasks that keep them secret; tables that cannot be read are left out."""
    tables: dict[tuple[str, str], HiddenAnswers] = {}
    # If every set counts from 1, hidden clips have the same ids as those with open labels.
    sets = [reference for reference in opened(bundle, "reference_data").values() if is_public(reference)]
    sets += opened(bundle, "public_data").values()
    shared = frozenset(clip for data in sets for clip in read_labels(data).rows)
    for task in bundle.keys.tasks:
        reference, inputs = find(bundle, task.reference_data), find(bundle, task.input_data)
        if reference is None or is_public(reference):
            continue
        folder, input_folder = str(task.reference_data), str(task.input_data or "")
        if SETTINGS in reference.names():
            labels = read_labels(reference)
            clips = {digest: clip for clip, _, digest in (*read_copies(inputs), *read_clips(inputs))} if inputs else {}
            starts = _starts(inputs) if inputs else {}
            tables[folder, LABELS] = HiddenAnswers(folder, input_folder, True, labels.rows, clips, starts, shared)
            causes = read_contributions(reference)
            tables[folder, "causes"] = HiddenAnswers(
                folder, input_folder, True, causes, shared=shared, what="contributions"
            )
            continue
        for name in reference.names():
            if name.lower().endswith(".csv") and reference.size(name) <= LARGEST_TABLE:
                tables[folder, name] = HiddenAnswers(folder, input_folder, False, _foreign(reference.text(name)))
    return [answers for answers in tables.values() if answers.rows]


def _starts(inputs: DataFiles) -> dict[str, str]:
    names = set(inputs.names())
    # Without sound, a copy may equal its clip and then gets the clip's id.
    listed = (*read_copies(inputs), *read_clips(inputs))
    clips = [(clip, file) for clip, file, _ in listed if file in names and inputs.size(file) <= LARGEST_FILE]
    return {File(file, inputs.read(file)).start_of_clip: clip for clip, file in clips}


def is_public(reference: DataFiles) -> bool:
    """Return whether the task's own report shows the true values, so that they are not secret."""
    report = (read_settings(reference) or {}).get("report")
    return isinstance(report, dict) and report.get("truth") is True


def _foreign(text: str) -> dict[str, tuple[float, ...]]:
    """Read a table of another format if its first column looks like ids and another like measured values."""
    table = read_table(text)
    rows = [row for row in table[1:] if len(row) == len(table[0]) > 1]
    names = [_stem(row[0]) for row in rows]
    unique = len(set(names)) == len(names) >= FEWEST_ROWS
    if not unique or not all(any(map(str.isalpha, name)) for name in names):
        return {}
    return {name: numbers(row[1:]) for name, row in zip(names, rows, strict=True)}


def _stem(name: str) -> str:
    """Return `clip_7` for `clip_7.mp4`, as other files may name it."""
    name = name.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.isalnum() and not suffix.isdigit() else name


@dataclass(frozen=True)
class Text:
    """A file as text, read once for all searches."""

    name: str
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
        values = np.load(io.BytesIO(content), allow_pickle=False).ravel()[: LARGEST_SEARCHED // 10].tolist()
    except (ValueError, OSError, EOFError, MemoryError):
        return ""
    return "\n".join(f"{number:.6f}" for number in values if isinstance(number, float))


def numbers_of_clip(file: File, text: Text, answers: HiddenAnswers) -> str:
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


def labelled_clips(text: str, answers: HiddenAnswers) -> set[str]:
    """Return the clips whose own labels occur next to their ids.

    Three labels of a clip, or one with five decimals, are proof. So are single labels with three decimals, if at least
    three clips have one, and a quarter of all clips that have numbers next to their ids.
    """
    proven, likely, numbered = set(), set(), set()
    for clip, near in _neighbours(text, answers.ids):
        numbered.add(clip)
        # Round numbers such as 0.5 occur too often.
        finite = [value for value in answers.rows[clip] if math.isfinite(value)]
        wanted = [value for value in finite if abs(100 * value - round(100 * value)) >= 1e-6]
        widths = {value: width for value in wanted for number, width in near if abs(number - value) <= width}
        if widths:
            likely.add(clip)
        if len(widths) >= 3 or any(width < PRECISE for width in widths.values()):
            proven.add(clip)
    return proven | likely if proven or (len(likely) >= 3 and 4 * len(likely) >= len(numbered)) else set()


def holds_labels_in_order(text: Text, answers: HiddenAnswers) -> bool:
    """Return whether the text contains a run of labels."""
    return any(
        tuple(text.thousandths[start : start + size]) in answers.windows
        for size in answers.window_sizes
        for start in range(len(text.thousandths) - size + 1)
    )


# A task's labels and contributions have the same clips, so a text is read once for both.
@lru_cache(maxsize=1)
def _neighbours(text: str, ids: frozenset[str]) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return each mention of a clip with the numbers around it, each with half the width of its last digit."""
    marks = [match for match in _words(ids).finditer(text) if match[0] in ids]
    mentions = []
    ends = [0, *(mark.end() for mark in marks)]
    starts = [*(mark.start() for mark in marks), len(text)]
    for position, mark in enumerate(marks):
        before = text[max(ends[position], mark.start() - NEAR) : mark.start()]
        after = text[mark.end() : min(starts[position + 1], mark.end() + NEAR)]
        near = [
            (float(match[0]), max(0.5001 * 10.0 ** (int(match[2] or 0) - len(match[1])), SINGLE))
            for piece in (before, after)
            for match in NUMBER.finditer(piece)
            if _plausible(match)
        ]
        if near:
            mentions.append((mark[0], [(value, width) for value, width in near if width < 0.6e-3]))
    return mentions


def _words(ids: Iterable[str]) -> re.Pattern[str]:
    # If no id contains _ or -, these separate words, as in c7f3a90b1_0.431.mp4.
    plain = all(name.isalnum() for name in ids)
    return re.compile(r"[A-Za-z0-9]+" if plain else r"[A-Za-z0-9_-]+")


def _plausible(match: re.Match[str]) -> bool:
    return len(match[0]) <= 40 and abs(int(match[2] or 0)) <= 12
