"""Rules about phases that take results instead of code (docs/results_2017.md)."""

import csv
import io
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from bundle_tools.check.dataset import Dataset
from bundle_tools.check.findings import FAILS_LATER, Finding, shown

HEADER = ["clip_id", "name"]
NAMES = ("aliases", "target_aliases")


def check_results(folder: str, data: Dataset, settings: dict[str, Any], clips: list[str]) -> Iterator[Finding]:
    """Find settings of results that ingestion refuses, and older names that lead nowhere.

    Parameters
    ----------
    folder
        The input data as competition.yaml names it.
    data
        The input data.
    settings
        Its `task.yaml`.
    clips
        Ids of the clips.
    """
    where = str(PurePosixPath(folder) / "task.yaml")
    accepted = settings.get("results")
    if accepted is not None and not isinstance(accepted, bool):
        what = f"results: expected true or false; found {shown(accepted)}."
        yield Finding("results-value", "error", where, what, FAILS_LATER, "Correct the value.")
        return
    if not accepted:
        idle = [name for name in NAMES if settings.get(name) is not None]
        if idle:
            what = f"{' and '.join(idle)} without results: true."
            yield Finding("results-idle", "warning", where, what, "They are not used.", "Set results, or delete them.")
        return
    effect = "Anybody can write results by hand, and nothing that needs a model to ask is measured."
    what = "Results may take the place of code."
    yield Finding("results-accepted", "note", where, what, effect, "Say on a page how such entries are ranked.")
    yield from _check_target_aliases(where, settings)
    if settings.get("aliases") is not None:
        yield from _check_aliases(folder, data, str(settings["aliases"]), clips)


def _check_target_aliases(where: str, settings: dict[str, Any]) -> Iterator[Finding]:
    aliases, targets = settings.get("target_aliases"), settings.get("targets")
    if aliases is None:
        return
    entries = targets if isinstance(targets, list) else []
    names = [str(target.get("name")) for target in entries if isinstance(target, dict)]
    if not isinstance(aliases, dict) or any(
        str(old) in names or str(new) not in names or list(aliases.values()).count(new) > 1
        for old, new in aliases.items()
    ):
        what = f"target_aliases: expected an older name for each of some targets; found {shown(aliases)}."
        yield Finding("results-value", "error", where, what, FAILS_LATER, f"Use {', '.join(names)}, each once.")


def _check_aliases(folder: str, data: Dataset, name: str, clips: list[str]) -> Iterator[Finding]:
    where = str(PurePosixPath(folder) / name)
    if name not in data.names():
        yield Finding("results-aliases", "error", where, "The list of older names is missing.", FAILS_LATER, "Add it.")
        return
    rows = [row for row in csv.reader(io.StringIO(data.text(name))) if row]
    if not rows or rows[0] != HEADER:
        what = f"Expected the header {','.join(HEADER)}; found {shown(','.join(rows[0]) if rows else '')}."
        yield Finding("results-aliases", "error", where, what, FAILS_LATER, "Correct the header.")
        return
    seen: tuple[set[str], set[str]] = (set(), set())
    wrong = []
    for row in rows[1:]:
        if (
            len(row) != len(HEADER)
            or row[0] not in clips
            or any(cell in one for cell, one in zip(row, seen, strict=True))
        ):
            wrong.append(row)
            continue
        for cell, one in zip(row, seen, strict=True):
            one.add(cell)
    if wrong:
        what = (
            f"{len(wrong)} rows of an unknown clip, or with a clip or a name a second time, such as {shown(wrong[0])}."
        )
        yield Finding("results-aliases", "error", where, what, FAILS_LATER, "Correct the rows.")
    unnamed = sorted(set(clips) - seen[0])
    if unnamed and not wrong:
        what = f"{len(unnamed)} clips have no older name, such as {unnamed[0]}."
        effect = "They are found under their id only, which nobody used in 2017."
        yield Finding("results-names", "warning", where, what, effect, "Add their names.")
