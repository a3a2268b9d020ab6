"""The settings of the second pass, from the key `probes` of `task.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from ingest.settings_reader import SettingsReader

Operator = Literal["imputation", "blur", "median", "moment"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
MOST_EDITS = 3
"""With an original, four masks in space and four in time that makes twelve calls a clip."""


@dataclass(frozen=True)
class ProbeSettings:
    """How altered clips are made."""

    operators: tuple[Operator, ...]
    """What takes a masked place; one is drawn for each clip."""
    edits: int
    """Cue edits of a clip, at most; 0 to 3."""
    gain: float
    """Jitter of brightness and loudness: a factor within 1 ± gain."""
    shift_px: int
    """Jitter of the picture's position, pixels of the clip's own frames, in each direction at most."""
    frames: int
    """Jitter in time, whole frames, at most."""


def read_probes(reader: SettingsReader) -> ProbeSettings:
    """Read the key `probes`; what is wrong is noted in `reader`."""
    operators = reader.choices("probes.operators", OPERATORS)
    return ProbeSettings(
        operators=tuple(operator for operator in OPERATORS if operator in operators),
        edits=reader.integer("probes.edits", 0, MOST_EDITS),
        gain=reader.number("probes.jitter.gain", 0, 0.1),
        shift_px=reader.integer("probes.jitter.shift_px", 0, 16),
        frames=reader.integer("probes.jitter.frames", 0, 5),
    )
