"""The clips that the submissions are run on: both committed phases, fresh drawn sets, and one played as if filmed."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.synthetic.folders import write_phase
from tests import ROOT
from tests.meaning.cache import digest, once
from tests.meaning.filmed import write_filmed

Changes = Mapping[str, Mapping[str, Any]]
PRACTICE = "practice"
COMMITTED = (PRACTICE, "final")
FRESH_SEEDS = (11, 22, 33)
CLIPS = 24
SETS = (*COMMITTED, *(f"s{seed}" for seed in FRESH_SEEDS))
"""Names of the sets of drawn clips."""
FILMED, FILMED_SEED = "filmed", 44
"""The set that is played as if it were filmed."""
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
    """One of SETS, or FILMED."""
    input_data: Path
    """What ingestion reads."""
    reference_data: Path
    """What scoring reads."""


def clip_set(name: str, cache: Path, workers: int) -> ClipSet:
    """Return a set by its name, made if it is not in `cache`."""
    committed = [ROOT / part / name for part in ("input_data", "reference_data")]
    sources = committed if name in COMMITTED else [ROOT / "bundle_tools" / "synthetic"]
    own = Path(__file__), *([Path(__file__).with_name("filmed.py")] if name == FILMED else [])
    source = digest(*sources, *own)

    def make(into: Path) -> None:
        parts = (into / "input_data", into / "reference_data")
        if name in COMMITTED:
            for folder, part in zip(committed, parts, strict=True):
                shutil.copytree(folder, part)
        elif name == FILMED:
            for part in parts:
                part.mkdir()
            write_filmed(*parts, clips=CLIPS, seed=FILMED_SEED, workers=workers)
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
