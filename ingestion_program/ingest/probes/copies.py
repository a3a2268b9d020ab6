"""Turns the calls of a plan into clips that can be served to the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.media.alteration import Alteration, draw_jitter
from ingest.media.cache import ClipCache, FrameMemory
from ingest.probes.edits import COPY, DRAW, EDITS, Traits, plain_levels, traits_of
from ingest.probes.plan import EXCHANGE, SPAN, CueEdit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.data import Dataset
    from ingest.draws import KeyedRandom
    from ingest.media.alteration import ClipSource
    from ingest.probes.plan import Call
    from ingest.settings import Task


class CopyFactory:
    """Makes the altered copies of one task."""

    def __init__(self, dataset: Dataset, task: Task, draws: KeyedRandom) -> None:
        self._dataset = dataset
        self._task = task
        self._draws = draws
        # Sorted, so that the order of the list does not matter.
        self._clips = sorted(dataset.clips, key=lambda clip: clip.clip_id)
        self._traits: dict[str, Traits] = {}
        self._memory = FrameMemory()

    def untested(self) -> dict[str, list[str]]:
        """Return the ids of the clips without `exchanges`, and without cue `edits`, ascending."""
        edited = self._task.probes is not None and self._task.probes.edits > 0
        return {
            "exchanges": [clip.clip_id for clip in self._clips if clip.clip_id not in self._dataset.exchanges],
            "edits": [clip.clip_id for clip in self._clips if not edited or not self.edits(clip)],
        }

    def edits(self, clip: ClipSource) -> list[CueEdit]:
        """Return the edits of a clip, the most dispensable one last: its rendered copies if it has any, else draws."""
        copies = self._dataset.copies.get(clip.clip_id, ())
        cues = [copy.cue for copy in copies]
        if not copies:
            vocabulary = self._task.explanation.evidence.cues
            cues = [cue for cue in EDITS if cue in vocabulary and self._lender(clip, cue) is not None]
        return [CueEdit(cue, COPY if copies else DRAW) for cue in self._draws.order(cues, "edits", clip.clip_id)]

    def clips(self, clip: ClipSource, calls: Iterable[Call]) -> list[ClipSource]:
        """Return the clip to show in each call; these calls share what is read from its files.

        Raises
        ------
        UnreadableClip
            When the clip cannot be decoded.
        """
        settings = self._task.probes
        if settings is None:
            raise ValueError("a task without probes has no calls")
        exchange, levels = self._dataset.exchanges.get(clip.clip_id), None
        if clip.clip_id not in self._dataset.copies:
            random, own = self._draws.generator("levels", clip.clip_id), self._traits_of(clip)
            levels = plain_levels(own, random)
        shown = clip
        if exchange is not None and exchange.first is not None:
            shown = replace(clip, path=exchange.first, sha256=exchange.first_sha256)
        cache = ClipCache(shown, self._memory)
        # The same for all calls of a clip, so that they differ only by the alteration.
        jitter, seed = draw_jitter(settings.jitter, self._draws, clip.clip_id), self._draws.seed("noise", clip.clip_id)
        plain = replace(shown, alteration=Alteration(cache, jitter, seed, exchange=exchange, levels=levels))
        altered = [self._alter(plain, call) for call in calls]
        # Raises here, not in the middle of a call.
        cache.share([each.alteration for each in altered if each.alteration is not None])
        return altered

    def _alter(self, clip: ClipSource, call: Call) -> ClipSource:
        plain = clip.alteration
        if plain is None:
            raise ValueError("an altered clip needs an alteration")
        if call.operator == COPY:
            copy = next(copy for copy in self._dataset.copies[clip.clip_id] if copy.cue == call.cue)
            altered = replace(plain, copy=copy.path)
            return replace(clip, path=copy.path, sha256=copy.sha256, transcript=copy.transcript, alteration=altered)
        if call.operator == DRAW and call.cue is not None and plain.levels is not None:
            lender, edit = self._lender(clip, call.cue), EDITS[call.cue]
            if lender is not None:
                random = self._draws.generator("edit", call.clip_id, call.cue)
                value = edit.draw(self._traits_of(clip), lender, random)
                return replace(clip, alteration=replace(plain, levels=replace(plain.levels, **{edit.field: value})))
        if call.operator == EXCHANGE and plain.exchange is not None:
            heard = (text for name, text in plain.exchange.heard.items() if name in call.parts)
            transcript, span = next(heard, clip.transcript), None
            if call.unit is not None and call.unit.startswith(SPAN):
                spans = plain.exchange.spans_s(plain.facts.duration_s)
                span = spans[int(call.unit.removeprefix(SPAN)) - 1]
            return replace(clip, transcript=transcript, alteration=replace(plain, exchanged=call.parts, span_s=span))
        return clip

    def _traits_of(self, clip: ClipSource) -> Traits:
        if clip.clip_id not in self._traits:
            self._traits[clip.clip_id] = traits_of(clip, self._dataset.faces.get(clip.clip_id))
        return self._traits[clip.clip_id]

    def _lender(self, clip: ClipSource, cue: str) -> Traits | None:
        """Return the traits of the clip whose value an edit shows; None unless both have one."""
        known = EDITS[cue].known
        if not known(self._traits_of(clip)):
            return None
        order = self._draws.generator("lender", clip.clip_id, cue).permutation(len(self._clips))
        others = (self._clips[number] for number in order if self._clips[number].clip_id != clip.clip_id)
        return next((traits for traits in map(self._traits_of, others) if known(traits)), None)
