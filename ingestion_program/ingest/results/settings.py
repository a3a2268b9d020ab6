"""Whether a phase takes results instead of code, and under which names clips and targets stand in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.clips.table import problem, read_rows
from ingest.errors import IngestionError, Problem
from ingest.settings_reader import brief

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.settings_reader import SettingsReader

COLUMNS = ["clip_id", "name"]


@dataclass(frozen=True)
class ResultsSettings:
    """How submitted results are understood."""

    aliases_file: str | None
    """Path of the list of older names of clips, relative to the input data; None where ids are used."""
    target_aliases: tuple[tuple[str, str], ...]
    """(name in the results, target); the values are taken as they are."""


def read_results(reader: SettingsReader, targets: tuple[str, ...]) -> ResultsSettings | None:
    """Read the settings of results; None where the phase takes code only."""
    # Asked for in any case, since they are known keys where results are switched off, too.
    aliases, others = reader.find("target_aliases") or {}, reader.has("aliases")
    if not reader.has("results") or not reader.switch("results"):
        return None
    if not isinstance(aliases, dict) or not all(
        isinstance(name, str) and name not in targets and target in targets for name, target in aliases.items()
    ):
        reader.problem("settings_value", "target_aliases", brief(aliases), "{older name: one of the targets}")
        aliases = {}
    elif len(set(aliases.values())) < len(aliases):
        reader.problem("settings_value", "target_aliases", "a target with two older names", "one for each target")
    return ResultsSettings(reader.text("aliases") if others else None, tuple(aliases.items()))


def older_names(input_data: Path, settings: ResultsSettings, clip_ids: list[str]) -> dict[str, str | None]:
    """Return the older name of each clip, None where it has none.

    Raises
    ------
    IngestionError
        With every problem of the list.
    """
    names = dict[str, str | None].fromkeys(clip_ids)
    problems: list[Problem] = []
    lines: dict[str, str] = {}
    rows = read_rows(input_data / settings.aliases_file, COLUMNS, problems) if settings.aliases_file else []
    for where, (clip_id, name) in rows:
        if clip_id not in names:
            problems.append(problem("clip_unknown", where, clip_id, "a clip of the list", "correct the clip_id"))
        elif name in lines:
            found, expected = f"the name {name[:80]!r}", f"every name once ({lines[name]})"
            problems.append(problem("clip_twice", where, found, expected, "correct one of the names"))
        else:
            names[clip_id], lines[name] = name, where
    if problems:
        raise IngestionError(problems)
    return names
