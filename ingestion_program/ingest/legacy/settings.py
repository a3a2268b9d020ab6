"""Whether a phase takes results instead of code, and under which names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.settings_reader import brief

if TYPE_CHECKING:
    from ingest.settings_reader import SettingsReader


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
