"""The challenge's own exchanges on clips whose second drawing is at hand: how your model reacts to each part.

In the second pass, parts of a clip are exchanged for their counterparts; what changes the predictions most should be
marked most. This gives the same perturbed copies at home::

    original, units = Exchanges("input_data/practice")["c03dc9feb2"]
    before = model.predict(original)
    effects = {unit.kind: effect(before, model.predict(unit.clip)) for unit in units}
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import programs
from contract import Frame, Sound
from file_clip import FileClip
from ingest.data import read_dataset
from ingest.draws import KeyedRandom
from ingest.media.alteration import ClipSource
from ingest.media.transform import AlteredReader
from ingest.media.video import frame_shape, wanted_frames
from ingest.probes.copies import CopyFactory
from ingest.probes.plan import Call, exchanged_units
from ingest.requests import parse_request
from ingest.settings import read_task
from model_process.clip import plain
from score.settings import read_settings

_ROOM = 64  # all units of a clip


class AlteredClip(FileClip):
    """A clip of the second pass, with the interface of the platform's clips."""

    def __init__(self, source: ClipSource) -> None:
        if source.alteration is None:
            raise ValueError("a perturbed copy needs an alteration")
        super().__init__(source.path, source.transcript)
        self._alteration = source.alteration

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound, mono, in [-1, 1], or None for a clip without sound."""
        return self._alteration.sound(rate)

    def _read(self, **request: Any) -> Iterator[Frame]:  # noqa: ANN401 - numbers
        parsed = parse_request(plain(request))
        shape, asked = frame_shape(parsed, self._facts), wanted_frames(parsed, self._facts)
        with closing(AlteredReader(self._alteration, threads=1)) as reader:
            for index in self._alteration.shown(asked).tolist():
                frame = np.empty(shape, np.uint8)
                reader.read_into(index, frame)
                frame.flags.writeable = False
                yield frame


@dataclass(frozen=True)
class ExchangedUnit:
    """A region of space and time that is exchanged in one call."""

    kind: str
    """What it shows, such as ``mouth``."""
    cells: tuple[int, ...]
    """Where: row * columns + column of the map's cells; empty if it is not seen."""
    seconds: tuple[int, ...]
    """When: seconds of the timeline; empty if it is always there."""
    clip: AlteredClip
    """The clip with its counterpart."""


class Exchanges:
    """The clips of a folder that have an exchange, such as those of ``input_data/practice``."""

    def __init__(self, input_data: str | Path) -> None:
        """Read and check the folder's lists; raises ingest.errors.IngestionError with all of their mistakes."""
        self._task = read_task(Path(input_data) / "task.yaml")
        footage, draws = read_dataset(Path(input_data), self._task), KeyedRandom(None, self._task.seed)
        self._stage, self._draws, self._exchanges = CopyFactory(footage, self._task, draws), draws, footage.exchanges
        self._clips = {clip.clip_id: clip for clip in footage.clips if clip.clip_id in footage.exchanges}

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the clips."""
        return iter(self._clips)

    def __getitem__(self, clip_id: str) -> tuple[AlteredClip, list[ExchangedUnit]]:
        """Return a clip as the second pass shows it, and all its units."""
        clip, grid = self._clips[clip_id], self._task.explanation.evidence.grid
        seconds = math.ceil(FileClip(clip.path).duration_s - 1e-6)
        exchange = self._exchanges[clip_id]
        calls = exchanged_units(clip_id, exchange, seconds, (grid.rows, grid.columns), _ROOM, self._draws)
        original, *others = map(AlteredClip, self._stage.clips(clip, [Call(clip_id, "original"), *calls]))
        pairs = zip(calls, others, strict=True)
        return original, [ExchangedUnit(call.unit or "", call.cells, call.seconds, other) for call, other in pairs]


def effect(before: Mapping[str, float], after: Mapping[str, float], main: str | None = None) -> float:
    """Return the joint change of predictions: half that of the main target, half the mean of the others.

    `main`: name of the main target; None: that of the practice phase.
    """
    main = main or _main_target()
    changes = {name: abs(before[name] - after[name]) for name in before}
    others = [change for name, change in changes.items() if name != main]
    return changes[main] if not others else changes[main] / 2 + sum(others) / len(others) / 2


@cache
def _main_target() -> str:
    return read_settings(programs.REFERENCE_DATA / "task.yaml").main_target
