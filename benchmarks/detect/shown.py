"""Altered and plain calls as a model sees them, made by ingestion's own classes."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.detect.drawings import EXCHANGES, EXPRESSIVE, PLAIN, Drawn
from ingest.data import Dataset, read_exchanges
from ingest.draws import KeyedRandom
from ingest.errors import Problem
from ingest.media.alteration import ClipSource
from ingest.media.exchange import Exchange, Part
from ingest.media.sound import Sound
from ingest.media.transform import AlteredReader
from ingest.media.video import Frame, frame_shape, wanted_frames
from ingest.probes.copies import CopyFactory
from ingest.probes.edits import DRAW, EDITS
from ingest.probes.plan import EXCHANGE, Call
from ingest.requests import FrameRequest
from ingest.settings import Task

RATE = 16_000


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
        frame = np.empty(shape, np.uint8)
        with closing(AlteredReader(alteration, threads=1)) as reader:
            for index in alteration.shown(wanted_frames(request, facts)).tolist():
                reader.read_into(index, frame)
                yield frame

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
    # Clips with rendered copies: their brightness, size and loudness are not drawn.
    factory = CopyFactory(Dataset([], dict.fromkeys(exchanges, ()), exchanges, {}), task, draws)
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
    """Yield the cue edits of a clip as if it were filmed, without a second drawing, and the plain call."""
    heights = {}
    for clip in phase:
        rows = [row for part in _face_of(_exchange_of(clip)) for _, row in part.outline]
        heights[clip.clip_id] = 2 * (max(rows) - min(rows))  # eyes and mouth are about half of a face
    others = [_source(lender, lender.clip_id, PLAIN) for lender in phase]
    factory = CopyFactory(Dataset(others, {}, {}, heights), task, draws)
    source, face = _source(drawn, drawn.clip_id, PLAIN), _face_of(_exchange_of(drawn))
    for cue in EDITS:
        calls = (("altered", Call(drawn.clip_id, "cue", DRAW, cue=cue)), ("matched", Call(drawn.clip_id, "original")))
        for role, call in calls:
            (clip_shown,) = factory.clips(source, [call])
            yield Shown(f"draw: {cue}", role, drawn.clip_id, drawn.person, clip_shown, face)


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
    clip = ClipSource(drawn.clip_id, drawn.folder / f"{PLAIN}.mp4", "")
    exchanges = read_exchanges(drawn.folder, EXCHANGES, {drawn.clip_id: clip}, problems)
    assert not problems, problems
    return exchanges[drawn.clip_id]


def _face_of(exchange: Exchange) -> tuple[Part, ...]:
    return tuple(part for part in exchange.parts if part.name in EXPRESSIVE[:2])


def _source(drawn: Drawn, clip_id: str, file: str) -> ClipSource:
    return ClipSource(clip_id, drawn.folder / f"{file}.mp4", drawn.transcripts[file])
