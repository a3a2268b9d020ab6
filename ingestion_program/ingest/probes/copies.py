"""Turns the calls of a plan into clips that can be served to the model."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.media.alteration import Alteration, draw_jitter
from ingest.media.cache import ClipCache, FrameMemory
from ingest.media.exchange import Cells
from ingest.media.video import FrameReader, UnreadableClip
from ingest.probes.edits import COPY, edit
from ingest.probes.plan import EXCHANGE, FREEZE, SPAN
from ingest.settings import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ingest.data import Dataset
    from ingest.draws import KeyedRandom
    from ingest.media.alteration import ClipSource
    from ingest.probes.plan import Call
    from ingest.settings import Task


_WORD = re.compile(r"\S+\s*")


def drop_words(transcript: str, seconds: Collection[int], duration_s: float) -> str:
    """Return the transcript without the words whose middle lies in one of the given seconds, each [i, i + 1).

    A transcript has no times, so its words are spread evenly over the clip.
    """
    words = _WORD.findall(transcript)
    if not words or not seconds:
        return transcript
    each_s = duration_s / len(words)
    return "".join(word for number, word in enumerate(words) if int((number + 0.5) * each_s) not in seconds)


class CopyFactory:
    """Makes the altered copies of one task."""

    def __init__(self, dataset: Dataset, task: Task, draws: KeyedRandom) -> None:
        self._dataset = dataset
        self._task = task
        self._draws = draws
        # Sorted, so that the order of the list does not matter.
        self._clips = sorted(dataset.clips, key=lambda clip: clip.clip_id)
        self._lights: dict[str, float | None] = {}
        self._memory = FrameMemory()

    def clips(self, clip: ClipSource, calls: Iterable[Call]) -> list[ClipSource]:
        """Return the clip to show in each call; these calls share what is read from its files.

        Raises
        ------
        UnreadableClip
            When the clip cannot be decoded.
        """
        exchange = self._dataset.exchanges.get(clip.clip_id)
        if exchange is not None and exchange.first is not None:
            clip = replace(clip, path=exchange.first, sha256=exchange.first_sha256)
        cache = ClipCache(clip.path, self._memory)
        altered = [self._alter(clip, call, cache) for call in calls]
        # Raises here, not in the middle of a call.
        cache.share([shown.alteration for shown in altered if shown.alteration is not None])
        return altered

    def _alter(self, clip: ClipSource, call: Call, cache: ClipCache) -> ClipSource:
        settings = self._task.probes
        if settings is None:
            raise ValueError("a task without probes has no calls")
        exchange = self._dataset.exchanges.get(clip.clip_id)
        plain = Alteration(
            cache,
            # The same for all calls of a clip, so that they differ only by the alteration.
            draw_jitter(settings.jitter, self._draws, call.clip_id),
            self._draws.seed("noise", call.clip_id),
            exchange=exchange,
        )
        if call.operator == COPY:
            copy = next(copy for copy in self._dataset.copies[clip.clip_id] if copy.cue == call.cue)
            return replace(
                clip,
                path=copy.path,
                sha256=copy.sha256,
                transcript=copy.transcript,
                alteration=replace(plain, copy=copy.path),
            )
        if call.kind == "cue":
            random = self._draws.generator("edit", call.clip_id, call.cue or "")
            others = (self._clips[number] for number in random.permutation(len(self._clips)))
            words, done = edit(
                call.operator or "",
                clip,
                (other for other in others if other.clip_id != clip.clip_id),
                self._dataset.faces.get(clip.clip_id),
                self._light,
                random,
            )
            return replace(clip, transcript=words, alteration=replace(plain, **done))
        if call.operator == EXCHANGE and exchange is not None:
            heard = (text for name, text in exchange.heard.items() if name in call.parts)
            transcript = next(heard, clip.transcript)
            span = None
            if call.unit is not None and call.unit.startswith(SPAN):
                span = exchange.spans_s(cache.facts.duration_s)[int(call.unit.removeprefix(SPAN)) - 1]
            return replace(clip, transcript=transcript, alteration=replace(plain, exchanged=call.parts, span_s=span))
        if call.operator == FREEZE:
            transcript = drop_words(clip.transcript, call.seconds, cache.facts.duration_s)
            return replace(clip, transcript=transcript, alteration=replace(plain, seconds=call.seconds))
        if call.kind == "unit":
            form = self._task.explanation
            region = Cells(form.evidence.grid.rows, form.evidence.grid.columns, call.cells)
            operator = next(name for name in OPERATORS if name == call.operator)
            return replace(clip, alteration=replace(plain, region=region, operator=operator))
        return replace(clip, alteration=plain)

    def _light(self, clip: ClipSource) -> float | None:
        """Return the mean of a clip's first frame, 0 to 1; None where it cannot be decoded."""
        if clip.clip_id not in self._lights:
            self._lights[clip.clip_id] = None
            with suppress(UnreadableClip), closing(FrameReader(clip.path, threads=1)) as reader:
                self._lights[clip.clip_id] = float(reader.decode(0).mean()) / 255
        return self._lights[clip.clip_id]
