"""Answers that shards have recorded, given in the order in which a single model would have given them.

What a single model could not have said is left out: a pass ends where its restarts or its time would have been used up.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.clips.footage import Footage, read_footage
from ingest.clock import Clock
from ingest.confined.processor import Processor
from ingest.errors import IngestionError, Problem
from ingest.lanes.asker import Loaded, Restarts
from ingest.model.process import LoadFailed, ModelProcess
from ingest.shards import STAGES
from ingest.shards.coding import Encoder, built
from ingest.shards.sealed import refused
from model_process.sandbox import ISOLATION_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ingest.lanes.asker import Answer, Pass, Work
    from ingest.media.clip import ClipSource
    from ingest.settings import Limits, Task
    from ingest.shards.sealed import Sealed
    from model_process.sandbox import Isolated

_TABLES = ("copies", "exchanges", "faces")
_UNKNOWN = Loaded("no answers yet", 0.0, None, alone=False, cores=1.0)


class ModelClock(Clock):
    """Counts the seconds of the model, whichever machines it ran on."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_s = 0.0

    def elapsed_s(self) -> float:
        """Return the seconds so far."""
        return self._passed_s

    def add(self, seconds: float) -> None:
        """Count some seconds more."""
        self._passed_s += seconds


@dataclass(frozen=True)
class Missing:
    """A work without an answer."""

    packed: bytes
    """The work as one line of JSON, compressed: all works of a stage are held at once."""
    files: dict[str, str]
    """The files it needs, with their hashes."""
    cost_s: float | None
    """Expected duration, seconds; None if unknown."""

    @property
    def text(self) -> str:
        """The work as one line of JSON."""
        return zlib.decompress(self.packed).decode("ascii")


@dataclass
class Wanted:
    """What a stage is to ask."""

    how: Pass
    works: list[Missing] = field(default_factory=list)


class Replay:
    """Asks nobody; see `Asker`. Stages without results get no answers, and their works are noted as `missing`."""

    explains = runs_code = True
    faster = ModelProcess.faster
    workers = 1
    waited_s = 0.0

    def __init__(
        self, shards: Mapping[str, Sequence[Sealed]], limits: Limits, clock: ModelClock, input_data: Path, kept: Path
    ) -> None:
        """Take the results of every stage that has been run, and the file that keeps the checked data."""
        self._shards = {stage: list(of_stage) for stage, of_stage in shards.items()}
        self._limits, self._clock, self._input_data, self._kept = limits, clock, input_data, kept
        self._restarts = Restarts(limits.restarts, ModelProcess.name, ModelProcess.survivor)
        self._hashes: dict[str, str] = {}
        self._call_s: dict[str, float] = {}
        self._longest_s = 0.0
        self._died = False
        self._asked = 0
        self.missing: dict[str, Wanted] = {}
        """What has to be asked before the run can end, by stage."""
        self.broken: Exception | None = None
        """Why the results cannot be read; whatever the run has become then is no record."""
        self.stopped_by: Problem | None = None

    @property
    def finished(self) -> bool:
        """Whether the run has had all answers that it asked for."""
        return not self.missing and self.broken is None

    @property
    def restarts(self) -> int:
        """See `Asker.restarts`; counts those that a single model would have needed."""
        return self._restarts.count

    @property
    def all(self) -> list[Sealed]:
        """All results."""
        return [shard for stage in STAGES for shard in self._shards.get(stage, ())]

    @property
    def held(self) -> Isolated | None:
        """See `Asker.held`; the weakest isolation of any shard."""
        held = [shard.facts.held for shard in self.all if shard.facts.held is not None]
        return min(held, key=lambda one: (ISOLATION_LEVELS.index(one.level), one.landlock), default=None)

    @property
    def refused(self) -> Counter[str]:
        """See `Asker.refused`."""
        return sum((Counter(shard.facts.refused) for shard in self.all), Counter[str]())

    @property
    def used(self) -> Processor:
        """Processor time of all shards."""
        used = [shard.facts.used for shard in self.all if shard.facts.used is not None]
        waited = [one.waited_s for one in used if one.waited_s is not None]
        return Processor(
            sum(one.model_s for one in used),
            sum(one.ingestion_s for one in used),
            sum(waited) if waited else None,
            busy=any(one.busy for one in used),
        )

    def read_footage(self, input_data: Path, task: Task) -> Footage:
        """Return the data as they were checked when the plan was made; each shard checks the files that it uses."""
        if not self._kept.is_file():
            footage = read_footage(input_data, task)
            self._keep(footage)
            return footage
        clips: list[ClipSource] = []
        tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
        with self._kept.open(encoding="ascii") as file:
            for line in file:
                of_clip = built(json.loads(line), input_data)
                clips.append(of_clip.pop("clip"))
                for name, value in of_clip.items():
                    tables[name][clips[-1].clip_id] = value
        return Footage(clips, **tables)

    def _keep(self, footage: Footage) -> None:
        unfinished = self._kept.with_suffix(".part")
        with unfinished.open("w", encoding="ascii") as file:
            for clip in footage.clips:
                tables = ((name, getattr(footage, name)) for name in _TABLES)
                of_clip = {name: table[clip.clip_id] for name, table in tables if clip.clip_id in table}
                file.write(json.dumps(Encoder(self._input_data, {}).plain({"clip": clip, **of_clip})) + "\n")
        unfinished.replace(self._kept)

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """See `Asker.start`; a single model would have been that of the first shard."""
        names = (clip.path.relative_to(self._input_data).as_posix() for clip in clips)
        self._hashes = dict(zip(names, (clip.sha256 for clip in clips), strict=True))
        lead = next(iter(self._shards.get(STAGES[0], ())), None)
        if lead is None:
            return _UNKNOWN
        loaded, reason = lead.facts.loaded or _UNKNOWN, lead.facts.stopped_by
        if lead.facts.loaded is None and reason is not None:
            raise LoadFailed(reason)
        self._clock.add(loaded.load_s + (loaded.warm_up_s or 0.0))
        return loaded

    def start_afresh(self, *, alone: bool = False) -> bool:
        """See `Asker.start_afresh`; a stage that has not been run would surely have started."""
        self._died = False
        lead = next(iter(self._shards.get(STAGES[3 if alone else 1], ())), None)
        if lead is not None and lead.facts.loaded is not None:
            self._clock.add(lead.facts.loaded.load_s)
        return lead is None or lead.facts.loaded is not None

    def has_time_to_start(self) -> bool:
        """See `Asker.has_time_to_start`."""
        return self._clock.left_s() >= self._limits.load_s + self._longest_s

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """See `Asker.ask`.

        Raises
        ------
        IngestionError
            When a work is in no shard.
        """
        try:
            yield from self._ask(works, how)
        except Exception as error:
            # `Runner` would note it as a warning, and go on.
            self.broken = error
            raise

    def _ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        self.stopped_by = None
        stage = STAGES[self._asked]
        self._asked += 1
        if stage not in self._shards:
            wanted = Wanted(how, [self._note(work, how) for work in works])
            if wanted.works:
                self.missing[stage] = wanted
            return
        where = {clip_id: shard for shard in self._shards[stage] for clip_id in shard.clip_ids}
        for work in works:
            if work.clip_id not in where:
                raise _other_plan(stage, work)
            shard = where[work.clip_id]
            given = shard.answers(work.clip_id)
            for place in range(len(work.askings)):
                if self._clock.left_s() < self._longest_s + (how.spare_s if self._died else 0.0):
                    return
                if self._died and (gone := self._restarts.one_more()) is not None:
                    self.stopped_by = gone
                    return
                if place >= len(given):
                    self.stopped_by = shard.facts.stopped_by
                    return
                answer = given[place]
                self._clock.add(answer.took_s)
                self._longest_s = max(self._longest_s, answer.took_s)
                self._died = answer.died
                if how.counts:
                    self._call_s[work.clip_id] = answer.seconds.get("predict", answer.took_s)
                yield work, place, answer

    def remarks(self) -> list[Problem]:
        """See `Asker.remarks`."""
        return []

    def output(self) -> bytes:
        """See `Asker.output`; the models' outputs, joined."""
        return b"".join(shard.output for shard in self.all)

    def stop(self) -> None:
        """See `Asker.stop`; nothing runs."""

    def record(self) -> list[dict[str, Any]]:
        """Return which shards there were and where they ran, as written to `run.json`."""
        return [
            {"shard": shard.name, "machine": shard.facts.machine, "elapsed_s": round(shard.facts.elapsed_s, 3)}
            for shard in self.all
        ]

    def _note(self, work: Work, how: Pass) -> Missing:
        encoder = Encoder(self._input_data, self._hashes)
        text = json.dumps(encoder.plain(work), allow_nan=False, separators=(",", ":"))
        call_s = None if how.counts else self._call_s.get(work.clip_id, self._longest_s)
        return Missing(
            zlib.compress(text.encode("ascii"), 1),
            encoder.listed(),
            None if call_s is None else call_s * len(work.askings),
        )


def _other_plan(stage: str, work: Work) -> IngestionError:
    return IngestionError([refused(f"stage {stage}", f"clip {work.clip_id} in no shard", "make a new plan")])
