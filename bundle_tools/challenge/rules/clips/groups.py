"""Rules about groups of people: a table that scoring takes, and attributes that nobody but scoring ever sees."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.challenge.rules.clips.tables import read_labels, read_settings, read_table
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown

KEYS = ("clip_id", "source_id")
MOST_ATTRIBUTES, MOST_VALUES, LONGEST_VALUE = 8, 20, 40
FEWEST_PEOPLE = 5
LARGEST_TABLE = 20_000_000
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
STOPS = "Every scoring run fails."
ABSENCE = Absence("groups-missing", "Reports say nothing about groups.", "Put it there.")
FIX = "Correct it as docs/data_format.md shows."


def check_groups(side: Side) -> Iterator[Finding]:
    """Find a table of groups that scoring refuses, or that can show nothing.

    Parameters
    ----------
    side
        The reference data.
    """
    name = yield from find_named(side, "groups", side.settings.get("groups"), ABSENCE)
    if name is None:
        return
    where, data = side.at(name), side.data
    header, *rows = [[cell.strip() for cell in row] for row in read_table(data.text(name))] or [[]]
    targets = read_labels(data).targets
    wrong = list(_check_header(where, header, targets))
    yield from wrong
    if wrong:
        return
    yield from _check_people(where, header[0], rows, data)
    yield from _check_cells(where, header, rows)
    yield from _check_sizes(where, header, rows, data)


def check_groups_misplaced(draft: Draft) -> Iterator[Finding]:
    """Find attributes of people where models or participants look: they are for auditing alone."""
    attributes: set[str] = set()
    files: set[str] = set()
    for _, task in draft.entries("tasks"):
        data = find(draft, task.get("reference_data"))
        name = (read_settings(data) or {}).get("groups") if data else None
        if data is not None and isinstance(name, str) and name in data.names():
            files.add(name)
            attributes.update(cell.strip() for cell in next(iter(read_table(data.text(name))), [])[1:])
    if not files:
        return
    places = [task.get("input_data") for _, task in draft.entries("tasks")]
    places += [phase.get(key) for _, phase in draft.entries("phases") for key in ("public_data", "starting_kit")]
    places += [solution.get("path") for _, solution in draft.entries("solutions")]
    for place in dict.fromkeys(str(place) for place in places):
        data = find(draft, place)
        for name in data.names(junk=True) if data is not None else []:
            if PurePosixPath(name).name in files:
                what = f"{name} belongs to the reference data."
            elif data is not None and (found := sorted(_columns(data, name) & attributes)):
                what = f"{name} holds {shown(found[0])}, an attribute of people."
            else:
                continue
            effect = "Models could use what people are, and participants learn it of every person."
            yield Finding("groups-misplaced", "error", place, what, effect, "Delete it there.")


def _columns(data: Dataset, name: str) -> set[str]:
    """Give the names of a table's columns, or of the keys of JSON objects."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in (".csv", ".json") or data.size(name) > LARGEST_TABLE:
        return set()
    if suffix == ".csv":
        return {cell.strip() for cell in next(iter(read_table(data.text(name))), [])}
    try:
        content = json.loads(data.text(name))
    except (ValueError, RecursionError):
        return set()
    entries = content if isinstance(content, list) else [content]
    entries += [value for entry in entries if isinstance(entry, dict) for value in entry.values()]
    return {str(key) for entry in entries if isinstance(entry, dict) for key in entry}


def _check_header(where: str, header: list[str], targets: tuple[str, ...]) -> Iterator[Finding]:
    attributes = header[1:]
    if not header or header[0] not in KEYS or not 1 <= len(attributes) <= MOST_ATTRIBUTES:
        what = f"Expected clip_id or source_id, and 1 to {MOST_ATTRIBUTES} attributes; found {shown(','.join(header))}."
        yield Finding("groups-header", "error", where, what, STOPS, FIX)
        return
    for number, name in enumerate(attributes):
        if name in targets:
            what = f"The attribute {shown(name)} is called like a target."
            effect = f"{STOPS} What people are is never a target."
            yield Finding("groups-target", "error", where, what, effect, "Rename or delete the column.")
        elif not NAME.fullmatch(name) or name in KEYS or name in attributes[:number]:
            what = f"Expected attributes in lower case, each once; found {shown(name)}."
            yield Finding("groups-header", "error", where, what, STOPS, FIX)


def _check_people(where: str, key: str, rows: list[list[str]], data: Dataset) -> Iterator[Finding]:
    labels = read_labels(data)
    wanted = set(labels.rows) if key == "clip_id" else set(labels.sources.values())
    listed = Counter(row[0] for row in rows)
    for kind, odd in (
        (f"name a {key} that labels.csv does not have", sorted(listed.keys() - wanted)),
        (f"name a {key} again", sorted(one for one, times in listed.items() if times > 1)),
    ):
        if odd:
            what = f"{len(odd)} rows {kind}, such as {shown(odd[0])}."
            yield Finding("groups-clips", "error", where, what, STOPS, FIX)
    missing = sorted(wanted - listed.keys())
    if missing:
        what = f"{len(missing)} of labels.csv have no row, such as the {key} {shown(missing[0])}."
        yield Finding("groups-clips", "error", where, what, STOPS, "Add them; write unknown where it is not known.")


def _check_cells(where: str, header: list[str], rows: list[list[str]]) -> Iterator[Finding]:
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            what = f"Expected {len(header)} cells; found {len(row)}."
            yield Finding("groups-row", "error", f"{where}:{line}", what, STOPS, FIX)
            continue
        for name, cell in zip(header[1:], row[1:], strict=True):
            if not 1 <= len(cell) <= LONGEST_VALUE or not cell.isprintable():
                what = f"{name}: expected 1 to {LONGEST_VALUE} printable characters; found {shown(cell)}."
                yield Finding("groups-row", "error", f"{where}:{line}", what, STOPS, "Write unknown.")


def _check_sizes(where: str, header: list[str], rows: list[list[str]], data: Dataset) -> Iterator[Finding]:
    sources = read_labels(data).sources
    comparable = False
    for at, name in enumerate(header[1:], start=1):
        people: dict[str, set[str]] = {}
        for row in rows:
            if len(row) == len(header):
                people.setdefault(row[at], set()).add(sources.get(row[0], row[0]))
        comparable |= sum(len(group) >= FEWEST_PEOPLE for group in people.values()) >= 2
        if len(people) > MOST_VALUES:
            what = f"{name}: expected at most {MOST_VALUES} groups; found {len(people)}."
            yield Finding("groups-values", "error", where, what, STOPS, "Put values together.")
    if not comparable:
        what = f"No attribute has two groups of {FEWEST_PEOPLE} people or more."
        yield Finding("groups-small", "note", where, what, "Reports compare nothing.", "Put values together.")
