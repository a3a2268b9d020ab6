"""Older names of clips, e.g. those of 2017, and the names under which a clip may stand in results."""

from collections.abc import Collection
from pathlib import Path

from ingest.clips.table import problem, read_rows
from ingest.errors import IngestionError, Problem

COLUMNS = ["clip_id", "name"]
SUFFIX = ".mp4"


def read_aliases(path: Path, clip_ids: Collection[str]) -> dict[str, str]:
    """Return the older name of each clip that has one.

    Raises
    ------
    IngestionError
        With every problem of the list.
    """
    problems: list[Problem] = []
    aliases: dict[str, str] = {}
    lines: dict[str, str] = {}
    for where, (clip_id, name) in read_rows(path, COLUMNS, problems):
        if clip_id not in clip_ids:
            problems.append(problem("clip_unknown", where, clip_id, "a clip of the list", "correct the clip_id"))
        elif name in lines:
            found, expected = f"the name {name[:80]!r}", f"every name once ({lines[name]})"
            problems.append(problem("clip_twice", where, found, expected, "correct one of the names"))
        else:
            aliases[clip_id], lines[name] = name, where
    if problems:
        raise IngestionError(problems)
    return aliases


def names_of(clip_id: str, aliases: dict[str, str]) -> list[str]:
    """Return the names under which a clip may stand: its older name first, with and without `.mp4`."""
    names = [*([aliases[clip_id]] if clip_id in aliases else []), clip_id]
    return [spelling for name in names for spelling in (name, name.removesuffix(SUFFIX), name + SUFFIX)]
