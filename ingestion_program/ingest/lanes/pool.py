"""Several models side by side, each held by a lane in a program of its own; answers come back in order."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from ingest.confined import guard
from ingest.confined.share import Share, models_that_fit
from ingest.confined.watch import INGESTION_MB, SHARED_FRAMES_MB
from ingest.errors import IngestionError, Problem
from ingest.lanes.asker import Answer, Loaded, Restarts
from ingest.lanes.messages import Record, clip_record, pass_record, read_answer, read_problem, work_record
from ingest.media.frame_server import AHEAD_CLIPS
from ingest.model.process import LoadFailed, ModelProcess
from model_process.sandbox import Isolated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ingest.clock import Clock
    from ingest.lanes.asker import Pass, Work
    from ingest.media.clip import ClipSource
    from ingest.settings import Limits, Task

PROGRAM = Path(__file__).resolve().parents[2] / "lane.py"
WARM_UP_CLIPS = 20
"""Among so many clips one can surely be decoded."""
CLOSE_S = 10.0
"""How long lanes may take to say their last words."""
CALM = 2.0
"""A call must be so many times quicker than its limit, or no other model runs beside it."""


def workers_for(limits: Limits) -> int:
    """Return how many models may run side by side: as the settings say, else as many as the machine has room for."""
    return limits.workers or models_that_fit(limits.memory_mb + SHARED_FRAMES_MB + INGESTION_MB)


@dataclass(frozen=True)
class Setup:
    """What a lane is told before anything else."""

    input_data: Path
    """The phase's input folder."""
    settings: Path
    """Its `task.yaml`."""
    submission: Path
    """The participant's files."""
    packages: Path | None
    """Where packages were installed for this run."""

    def record(self, share: Share, left_s: float) -> Record:
        """Return it as JSON, with the model's share of the machine and the seconds of the budget that are left."""
        names = {name: value and str(value.resolve()) for name, value in vars(self).items()}
        return {**names, "share": asdict(share), "left_s": left_s}


@dataclass
class _Open:
    """A work that was handed out."""

    work: Work
    answers: deque[tuple[int, Answer]] = field(default_factory=deque)
    left: int = 0
    """Questions without an answer yet."""
    ended: bool = False
    reason: Problem | None = None


Inbox = SimpleQueue["tuple[LaneProgram, Record | None]"]


class LaneProgram:
    """One lane, seen from the program that hands out works."""

    def __init__(self, command: Sequence[str], setup: Record, inbox: Inbox) -> None:
        """Start it; what it says goes into the inbox, and None when it has ended."""
        self.ready = False
        """Whether its model can be asked."""
        self.gone = False
        """Whether it has ended by itself."""
        self.open: dict[int, int] = {}
        """Number of each of its works -> questions that are left of it."""
        self._inbox = inbox
        self._process = subprocess.Popen(  # noqa: S603 - this program, or the organiser's engine
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", bufsize=1
        )
        self.say(setup)
        Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def say(self, order: Record) -> None:
        """Send an order; whoever waits for an answer finds out where the lane has gone."""
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(order, separators=(",", ":")) + "\n")
                self._process.stdin.flush()

    def end(self) -> None:
        """End it, whatever it does."""
        self.ready = False
        self._process.kill()
        self._process.wait()

    def _listen(self, answers: IO[str]) -> None:
        for line in answers:
            self._inbox.put((self, json.loads(line)))
        self._inbox.put((self, None))


class Lanes:
    """Asks several models; see `Asker`."""

    explains = True
    runs_code = True
    faster = ModelProcess.faster

    def __init__(self, setup: Setup, task: Task, clock: Clock, most: int) -> None:
        """Take how many models run side by side at most."""
        self._setup, self._task, self._clock, self._most = setup, task, clock, most
        self._lanes: list[LaneProgram] = []
        self._inbox: Inbox = SimpleQueue()
        self._numbers = count()
        self._restarts = Restarts(task.limits.restarts, ModelProcess.name, ModelProcess.survivor)
        self._longest_s = 0.0
        self._shared_before = guard.shared_files()
        self._last_words: list[Record] = []
        self.stopped_by: Problem | None = None
        self.held: Isolated | None = None

    @property
    def restarts(self) -> int:
        """See `Asker.restarts`."""
        return self._restarts.count

    @property
    def refused(self) -> Counter[str]:
        """See `Asker.refused`."""
        total: Counter[str] = Counter()
        for words in self._last_words:
            total.update(words["refused"])
        return total

    @property
    def waited_s(self) -> float:
        """See `Asker.waited_s`; of the one that waited longest."""
        return max((float(words["waited_s"]) for words in self._last_words), default=0.0)

    @property
    def own_s(self) -> float:
        """See `Asker.own_s`."""
        return sum(float(words["own_s"]) for words in self._last_words)

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """See `Asker.start`. Others are started beside the first where it is quick and does not ask to be alone."""
        order = {"do": "load", "clips": [clip_record(clip, self._setup.input_data) for clip in clips[:WARM_UP_CLIPS]]}
        first = self._open_lane(order)
        message = self._wait_for(first, "loaded", "not_loaded")
        if message["op"] == "not_loaded":
            raise LoadFailed(read_problem(message["problem"]))
        loaded = Loaded(**message["loaded"])
        self.held = message["held"] and Isolated(**message["held"])
        slow = CALM * self._most * (loaded.warm_up_s or 0.0) > self._task.limits.call_s
        for _ in range(1, 1 if loaded.alone or slow else self._most):
            self._open_lane(order)
        return loaded

    def start_afresh(self, *, alone: bool = False) -> bool:
        """See `Asker.start_afresh`."""
        for number, lane in enumerate(self._lanes):
            lane.ready = False
            lane.say({"do": "rest" if alone and number else "load_afresh"})
        waiting = set(self._lanes[:1] if alone else self._lanes)
        while waiting and not any(lane.ready for lane in waiting):
            lane, message = self._receive()
            if message["op"] == "not_loaded":
                waiting.discard(lane)
        return bool(waiting)

    def has_time_to_start(self) -> bool:
        """See `Asker.has_time_to_start`."""
        return self._clock.left_s() >= self._task.limits.load_s + self._longest_s

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """See `Asker.ask`."""
        self.stopped_by = None
        coming, handed = iter(works), dict[int, _Open]()
        more, died = True, False
        while True:
            more = more and self._hand_out(coming, handed, how)
            while handed:
                number, first = next(iter(handed.items()))
                while first.answers:
                    place, answer = first.answers.popleft()
                    if died and (gone := self._restarts.one_more()) is not None:
                        self.stopped_by = gone
                        return
                    died = answer.died
                    yield first.work, place, answer
                if not first.ended:
                    break
                if first.reason is not None:
                    self.stopped_by = first.reason
                    return
                del handed[number]
            if not handed:
                return
            self._take_in(handed)

    def remarks(self) -> list[Problem]:
        """See `Asker.remarks`."""
        return []

    def output(self) -> bytes:
        """See `Asker.output`; what each model printed stands together."""
        return "".join(words["output"] for words in self._last_words).encode("utf-8", "backslashreplace")

    def stop(self) -> None:
        """See `Asker.stop`."""
        idle = [lane for lane in self._lanes if not (lane.open or lane.gone)]
        for lane in idle:
            lane.say({"do": "tell"})
        with contextlib.suppress(Empty, IngestionError):
            while len(self._last_words) < len(idle):
                _, message = self._receive(CLOSE_S)
                if message["op"] == "told":
                    self._last_words.append(message)
        for lane in self._lanes:
            lane.end()
        guard.end_descendants()
        if os.getpid() == 1:
            guard.sweep_shared_files(self._shared_before)
        self._lanes = []

    def _open_lane(self, order: Record) -> LaneProgram:
        share = Share(self._most, own_container=os.getpid() == 1)
        command = [sys.executable, "-s", str(PROGRAM)]
        lane = LaneProgram(command, self._setup.record(share, self._clock.left_s()), self._inbox)
        lane.say(order)
        self._lanes.append(lane)
        return lane

    def _hand_out(self, coming: Iterator[Work], handed: dict[int, _Open], how: Pass) -> bool:
        """Give every lane enough to do; return whether there is more."""
        for enough in range(1, AHEAD_CLIPS + 1):  # the first of all lanes comes before the second of any
            for lane in self._lanes:
                while lane.ready and sum(lane.open.values()) < enough:
                    work = next(coming, None) if self._clock.left_s() >= self._longest_s else None
                    if work is None:
                        return False
                    number = next(self._numbers)
                    handed[number] = _Open(work)
                    lane.open[number] = len(work.askings)
                    record = work_record(work, self._setup.input_data)
                    lane.say({"do": "ask", "number": number, "work": record, "how": pass_record(how)})
        return True

    def _take_in(self, handed: dict[int, _Open]) -> None:
        lane, message = self._receive()
        if message["op"] not in {"answer", "end"}:
            return
        number = message["number"]
        mine = handed.get(number)
        if message["op"] == "answer":
            lane.open[number] -= 1
            answer = read_answer(message["answer"])
            self._longest_s = max(self._longest_s, answer.took_s)
            if mine is not None:
                mine.answers.append((message["place"], answer))
            return
        del lane.open[number]
        if mine is not None:
            mine.ended = True
            mine.reason = message["reason"] and read_problem(message["reason"])

    def _wait_for(self, lane: LaneProgram, *operations: str) -> dict[str, Any]:
        while True:
            sender, message = self._receive()
            if sender is lane and message["op"] in operations:
                return message

    def _receive(self, timeout_s: float | None = None) -> tuple[LaneProgram, Record]:
        """Take the next message of any lane.

        Raises
        ------
        IngestionError
            When a lane is gone, or has found the machine at fault.
        """
        lane, message = self._inbox.get(timeout=timeout_s)
        if message is None:
            lane.gone, lane.ready = True, False
            found, fix = "a helper of the ingestion program that has ended", "run it again; give the job more memory"
            expected = "one that runs to the end"
            raise IngestionError([Problem("unexpected", "run", "ingestion", found, expected, fix, fault="organiser")])
        if message["op"] == "fault":
            raise IngestionError([read_problem(problem) for problem in message["problems"]])
        if message["op"] == "loaded":
            lane.ready = True
        return lane, message
