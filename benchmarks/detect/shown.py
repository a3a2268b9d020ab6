"""Altered and plain calls as a model sees them, made by ingestion's own classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.detect.drawings import EXCHANGES, EXPRESSIVE, PLAIN, Drawn
from ingest.data import Dataset, read_exchanges
from ingest.draws import KeyedRandom
from ingest.errors import Problem
from ingest.media.alteration import ClipSource
from ingest.media.exchange import Box, Exchange, Part
from ingest.media.painter import Painter
from ingest.media.sound import Sound
from ingest.media.video import Frame, FrameReader, frame_shape, wanted_frames
from ingest.probes.copies import CopyFactory
from ingest.probes.edits import OPERATORS as EDITS
from ingest.probes.plan import EXCHANGE, FREEZE, Call
from ingest.requests import FrameRequest
from ingest.settings import OPERATORS, Task

RATE = 16_000
HIDDEN_CELLS = 29
"""A fifth of the 144 cells, as many as the largest mask of the default settings."""
GRID = (9, 16)


@dataclass(frozen=True)
class Shown:
    """One call, with the places where a detector that knows the operators would look."""

    intervention: str
    """The intervention, or the one that a plain call is compared with."""
    role: str
    """``altered``, ``matched`` (plain, with the same values of all cues) or ``plain`` (the clip of the first pass)."""
    clip_id: str
    """Id of the clip that it is made from."""
    person: str
    clip: ClipSource
    """The clip as served to the model."""
    parts: tuple[Part, ...]
    """Suspected parts: the exchanged ones or, if none of them is seen, the face."""

    def frames(self) -> Iterator[Frame]:
        """Yield all frames in the size of the file, RGB; each is valid until the next."""
        alteration = self.clip.alteration
        assert alteration is not None
        facts, request = alteration.facts, FrameRequest()
        shape = frame_shape(request, facts)
        reader, painter = FrameReader(self.clip.path, threads=1), Painter(alteration, shape)
        frame = np.empty(shape, np.uint8)
        asked = wanted_frames(request, facts)
        for position, index in zip(asked.tolist(), alteration.shown(asked).tolist(), strict=True):
            reader.read_into(index, frame, painter, position)
            yield frame
        painter.close()
        reader.close()

    def sound(self) -> Sound:
        """Return the sound, `RATE` samples a second."""
        assert self.clip.alteration is not None
        heard = self.clip.alteration.sound(RATE)
        return np.zeros(0, np.float32) if heard is None else heard

    @property
    def shift(self) -> tuple[int, int]:
        """Pixels by which the picture is moved right and down."""
        assert self.clip.alteration is not None
        return self.clip.alteration.jitter.right, self.clip.alteration.jitter.down


def exchanged_calls(drawn: Drawn, task: Task, draws: KeyedRandom) -> Iterator[Shown]:
    """Yield every exchange of one clip's parts, the clip drawn in that way, and the clip itself."""
    exchange = _exchange_of(drawn)
    by_name = {part.name: part for part in exchange.parts}
    names = {name: f"{drawn.clip_id}-{name}" for name in drawn.exchanged}
    # The plain ones have a second drawing too, as every clip of such a phase has.
    exchanges: dict[str, Exchange] = dict.fromkeys([drawn.clip_id, *names.values()], exchange)
    factory = CopyFactory(Dataset([], {}, exchanges, {}), task, draws)
    plain = _source(drawn, drawn.clip_id, PLAIN)
    for name, parts in drawn.exchanged.items():
        suspects = tuple(by_name[part] for part in parts)
        if not any(part.outline for part in suspects):  # words alone
            suspects += _face_of(exchange)
        file = "exchange" if set(parts) == set(by_name) else name
        calls = (
            ("altered", plain, Call(drawn.clip_id, "unit", EXCHANGE, name, parts)),
            ("matched", _source(drawn, names[name], file), Call(names[name], "original")),
            ("plain", plain, Call(drawn.clip_id, "original")),
        )
        for role, source, call in calls:
            (clip,) = factory.clips(source, [call])
            yield Shown(name, role, drawn.clip_id, drawn.person, clip, suspects)


def filmed_calls(drawn: Drawn, phase: Sequence[Drawn], task: Task, draws: KeyedRandom) -> Iterator[Shown]:
    """Yield every operator for filmed clips on a drawn clip whose second drawing is not used, and the clip itself."""
    exchange = _exchange_of(drawn)
    face = _face_of(exchange)
    corners = np.array([corner for part in face for corner in part.outline])
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    high = bottom - top  # eyes and mouth, so that brows, forehead and chin lie around
    box = Box(max(0, left - 0.02), max(0, top - 0.5 * high), min(1, right + 0.02), min(1, bottom + 0.1 * high))
    others = [_source(lender, lender.clip_id, PLAIN) for lender in phase]
    factory = CopyFactory(Dataset(others, {}, {}, {drawn.clip_id: box}), task, draws)
    source = _source(drawn, drawn.clip_id, PLAIN)
    cells = _nearest_cells(float(left + right) / 2, float(top + bottom) / 2)
    second = int(draws.generator("second", drawn.clip_id).integers(5))
    calls: dict[str, Call] = {
        operator: Call(drawn.clip_id, "unit", operator, "block", cells=cells) for operator in OPERATORS
    }
    calls["frozen second"] = Call(drawn.clip_id, "unit", FREEZE, "span", seconds=(second,))
    calls |= {edit: Call(drawn.clip_id, "cue", edit, cue=cue) for cue, edit in EDITS.items()}
    original = Call(drawn.clip_id, "original")
    for name, call in calls.items():
        for role, asked in (("altered", call), ("plain", original)):
            (clip,) = factory.clips(source, [asked])
            yield Shown(name, role, drawn.clip_id, drawn.person, clip, face)


def copied_calls(dataset: Dataset, people: dict[str, str], task: Task, draws: KeyedRandom) -> Iterator[Shown]:
    """Yield every rendered copy of a phase, the same file as a clip of its own, and the clip it is a copy of."""
    for clip in dataset.clips:
        exchange = dataset.exchanges[clip.clip_id]
        face = _face_of(exchange)
        for copy in dataset.copies[clip.clip_id]:
            # A clip of the set could have been drawn with this cue neutral: then this very file would be its plain one.
            other = replace(clip, clip_id=f"{clip.clip_id}-{copy.cue}", path=copy.path, transcript=copy.transcript)
            factory = CopyFactory(
                replace(dataset, exchanges={**dataset.exchanges, other.clip_id: exchange}), task, draws
            )
            calls = (
                ("altered", clip, Call(clip.clip_id, "cue", "copy", cue=copy.cue)),
                ("matched", other, Call(other.clip_id, "original")),
                ("plain", clip, Call(clip.clip_id, "original")),
            )
            for role, source, call in calls:
                (shown,) = factory.clips(source, [call])
                yield Shown(f"copy: {copy.cue}", role, clip.clip_id, people[clip.clip_id], shown, face)


def _exchange_of(drawn: Drawn) -> Exchange:
    problems: list[Problem] = []
    path = drawn.folder / f"{PLAIN}.mp4"
    exchanges = read_exchanges(drawn.folder, EXCHANGES, {drawn.clip_id: path}, problems)
    assert not problems, problems
    return exchanges[drawn.clip_id]


def _face_of(exchange: Exchange) -> tuple[Part, ...]:
    return tuple(part for part in exchange.parts if part.name in EXPRESSIVE[:2])


def _source(drawn: Drawn, clip_id: str, file: str) -> ClipSource:
    return ClipSource(clip_id, drawn.folder / f"{file}.mp4", drawn.transcripts[file])


def _nearest_cells(x: float, y: float) -> tuple[int, ...]:
    """Return the cells around a point, as a map of the face names them."""
    rows, columns = GRID
    down, right = np.divmod(np.arange(rows * columns), columns)
    far = np.hypot((right + 0.5) / columns - x, ((down + 0.5) / rows - y) * rows / columns)
    return tuple(sorted(np.argsort(far, kind="stable")[:HIDDEN_CELLS].tolist()))
