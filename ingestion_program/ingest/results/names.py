"""Older names of clips, e.g. those of 2017."""

from pathlib import Path

from ingest.clips.table import problem, read_rows
from ingest.errors import IngestionError, Problem

COLUMNS = ["clip_id", "name"]


def older_names(path: Path | None, clip_ids: list[str]) -> dict[str, str | None]:
    """Return the older name of each clip; None without an entry, or without a list.

    Raises IngestionError with every problem of the list.
    """
    names = dict[str, str | None].fromkeys(clip_ids)
    problems: list[Problem] = []
    lines: dict[str, str] = {}
    for where, (clip_id, name) in [] if path is None else read_rows(path, COLUMNS, problems):
        if clip_id not in names:
            problems.append(problem("clip_unknown", where, clip_id, "a clip of the list", "correct the clip_id"))
        elif name in lines:
            found, expected = f"the name {name[:80]!r}", f"every name once; it is already in {lines[name]}"
            problems.append(problem("clip_twice", where, found, expected, "correct one of the names"))
        else:
            names[clip_id], lines[name] = name, where
    if problems:
        raise IngestionError(problems)
    return names
