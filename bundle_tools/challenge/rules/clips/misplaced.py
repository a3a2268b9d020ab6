"""Rules about data that only scoring may see: causes, observations and attributes of people found elsewhere."""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.clips.tables import read_settings, read_table
from bundle_tools.codabench.rules.dataset import Dataset, opened
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown

KNOWLEDGE = ("causes", "observations")
SEEN = ("input_data", "path", "public_data")
"""Keys of data that models or participants see; the kit may contain data of an open phase."""
LARGEST_TABLE = 20_000_000


def check_misplaced(draft: Draft) -> Iterator[Finding]:
    """Find causes and observations that models or participants can see; the kit may contain those of an open phase."""
    names = {f"{kind}.json" for kind in KNOWLEDGE} | {name for kind in KNOWLEDGE for _, name in _named(draft, kind)}
    for place, data in opened(draft, *SEEN).items():
        for name in data.names(junk=True):
            if PurePosixPath(name).name in names:
                what = f"{name} belongs to the reference data."
                effect = "The causes of a label give the label away."
                yield Finding("causes-misplaced", "error", place, what, effect, "Delete it there.")


def check_groups_misplaced(draft: Draft) -> Iterator[Finding]:
    """Find attributes of people that models or participants can see, although they are for auditing only."""
    tables = [(data, name) for data, name in _named(draft, "groups") if name in data.names()]
    files = {name for _, name in tables}
    attributes = {column for data, name in tables for column in _header(data, name)[1:]}
    for place, data in opened(draft, *SEEN, "starting_kit").items() if files else ():
        for name in data.names(junk=True):
            if PurePosixPath(name).name in files:
                what = f"{name} belongs to the reference data."
            elif found := sorted(_columns(data, name) & attributes):
                what = f"{name} holds {shown(found[0])}, an attribute of people."
            else:
                continue
            effect = "Models could use this attribute, and participants could read it for every person."
            yield Finding("groups-misplaced", "error", place, what, effect, "Delete it there.")


def _named(draft: Draft, key: str) -> Iterator[tuple[Dataset, str]]:
    """Yield all reference data, each with the file that its settings name under a key."""
    for data in opened(draft, "reference_data").values():
        if name := (read_settings(data) or {}).get(key):
            yield data, str(name)


def _header(data: Dataset, name: str) -> list[str]:
    return [cell.strip() for cell in next(iter(read_table(data.text(name))), [])]


def _columns(data: Dataset, name: str) -> set[str]:
    """Return the names of a table's columns, or of the keys of JSON objects."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in (".csv", ".json") or data.size(name) > LARGEST_TABLE:
        return set()
    if suffix == ".csv":
        return set(_header(data, name))
    try:
        content = json.loads(data.text(name))
    except (ValueError, RecursionError):
        return set()
    entries = content if isinstance(content, list) else [content]
    entries += [value for entry in entries if isinstance(entry, dict) for value in entry.values()]
    return {str(key) for entry in entries if isinstance(entry, dict) for key in entry}
