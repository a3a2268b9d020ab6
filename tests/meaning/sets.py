"""The clips that the submissions are run on: the Practice data and fresh drawn sets, each made once."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.synthetic.folders import write_phase
from tests import ROOT
from tests.meaning.cache import digest, once

Changes = Mapping[str, Mapping[str, Any]]
PRACTICE = "practice"
FRESH_SEEDS = (11, 22, 33, 44, 55, 66, 77)
CLIPS = 24
SETS = (PRACTICE, *(f"s{seed}" for seed in FRESH_SEEDS))
"""Names of all sets. A set of filmed clips would be one more folder of the same form."""
# Nothing may be cut off on a busy machine, and nothing is done that changes no score.
_INGESTION: Changes = {
    "limits": {"time_limit_s": 86_400, "call_s": 600},
    "isolation": {"require": "portable", "at_most": "portable"},
}
_SCORING: Changes = {"bootstrap": {"resamples": 0}}


@dataclass(frozen=True)
class ClipSet:
    """One set, as the programs read it."""

    name: str
    """One of SETS."""
    input_data: Path
    """What ingestion reads."""
    reference_data: Path
    """What scoring reads."""


def clip_set(name: str, cache: Path, workers: int) -> ClipSet:
    """Return a set by its name, made if it is not in `cache`."""
    practice = [ROOT / part / PRACTICE for part in ("input_data", "reference_data")]
    sources = practice if name == PRACTICE else [ROOT / "bundle_tools" / "synthetic"]
    source = digest(*sources, Path(__file__))

    def make(folder: Path) -> None:
        parts = (folder / "input_data", folder / "reference_data")
        if name == PRACTICE:
            for committed, part in zip(practice, parts, strict=True):
                shutil.copytree(committed, part)
        else:
            write_phase(
                PRACTICE, clips=CLIPS, seed=int(name[1:]), input_dir=parts[0], reference_dir=parts[1], workers=workers,
                progress=None,
            )  # fmt: skip
        for part, changes in zip(parts, (_INGESTION, _SCORING), strict=True):
            _change(part / "task.yaml", changes)

    folder = once(cache / "sets" / f"{name}-{source}", make)
    return ClipSet(name, folder / "input_data", folder / "reference_data")


def _change(path: Path, changes: Changes) -> None:
    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    settings.pop("landmarks", None)
    for key, values in changes.items():
        settings[key] |= values
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
