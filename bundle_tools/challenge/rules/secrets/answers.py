"""The secrets of a task: its reference files, and the labels and ids of its clips."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from bundle_tools.challenge.rules.clips.tables import (
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
from bundle_tools.challenge.rules.secrets.inside import LARGEST_FILE, File
from bundle_tools.codabench.rules.dataset import Dataset, find, opened
from bundle_tools.codabench.rules.document import Draft

# A column of labels is recognised by this many values one after the other, to three decimals: 10,000 other numbers in
# [0, 1] hold one of 100 such runs by chance once in 10^12 files; rows of only four values, once in 10^6.
WINDOW = 6
SHORTEST_WINDOW = 4
FEWEST_ROWS = 4
LARGEST_TABLE = 20_000_000
# A copy of a longer column contains its beginning; comparing later runs would take long.
MOST_WINDOWED_ROWS = 50_000


@dataclass(frozen=True)
class Answers:
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


def hidden_answers(draft: Draft) -> list[Answers]:
    """Read the labels of all tasks that keep them secret; tables that cannot be read are left out."""
    found: dict[tuple[str, str], Answers] = {}
    shared = _open_ids(draft)
    for task in draft.keys.tasks:
        reference, given = find(draft, task.reference_data), find(draft, task.input_data)
        if reference is None or is_public(reference):
            continue
        place, inputs = str(task.reference_data), str(task.input_data or "")
        if SETTINGS in reference.names():
            labels = read_labels(reference)
            clips = {digest: clip for clip, _, digest in (*read_copies(given), *read_clips(given))} if given else {}
            starts = _starts(given) if given else {}
            found[place, LABELS] = Answers(place, inputs, True, labels.rows, clips, starts, shared)
            causes = read_contributions(reference)
            found[place, "causes"] = Answers(place, inputs, True, causes, shared=shared, what="contributions")
            continue
        for name in reference.names():
            if name.lower().endswith(".csv") and reference.size(name) <= LARGEST_TABLE:
                found[place, name] = Answers(place, inputs, False, _foreign(reference.text(name)))
    return [answers for answers in found.values() if answers.rows]


def _starts(given: Dataset) -> dict[str, str]:
    names = set(given.names())
    # Without sound, a copy may equal its clip and then gets the clip's id.
    listed = (*read_copies(given), *read_clips(given))
    clips = [(clip, file) for clip, file, _ in listed if file in names and given.size(file) <= LARGEST_FILE]
    return {File(file, given.read(file)).start_of_clip: clip for clip, file in clips}


def _open_ids(draft: Draft) -> frozenset[str]:
    """Return the ids of clips with open labels: if every set counts from 1, hidden clips have the same ids."""
    sets = [reference for reference in opened(draft, "reference_data").values() if is_public(reference)]
    sets += opened(draft, "public_data").values()
    return frozenset(clip for data in sets for clip in read_labels(data).rows)


def is_public(reference: Dataset) -> bool:
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
