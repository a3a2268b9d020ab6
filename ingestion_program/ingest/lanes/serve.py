"""A lane as a program of its own: orders come in by standard input, answers go out by standard output, one a line."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import sys
from collections import deque
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from ingest.clock import Clock
from ingest.confined.guard import harden_process
from ingest.confined.share import Share
from ingest.errors import IngestionError
from ingest.lanes.asker import Loaded, Pass
from ingest.lanes.lane import Lane
from ingest.lanes.messages import Record, answer_record, problem_record, read_clip, read_work
from ingest.model.process import LoadFailed, ModelProcess
from ingest.settings import read_task
from model_process.sandbox.limits import kill_on_parent_exit

if TYPE_CHECKING:
    from ingest.lanes.asker import Work


def main() -> int:
    """Serve until there are no more orders."""
    orders, answers = os.dup(0), os.dup(1)
    # Whatever is printed must not look like an answer.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    if sys.platform == "linux":
        kill_on_parent_exit(os.getppid())
    harden_process()
    with os.fdopen(orders, encoding="utf-8") as source, os.fdopen(answers, "w", encoding="utf-8") as sink:
        _Server(source, sink).run()
    return 0


class _Server:
    """Follows orders in their order; those that wait tell what will be shown next."""

    def __init__(self, source: IO[str], sink: IO[str]) -> None:
        self._sink = sink
        self._coming: SimpleQueue[Record | None] = SimpleQueue()
        self._waiting: deque[Record] = deque()
        setup = json.loads(source.readline())
        self._top = Path(setup["input_data"])
        task = read_task(Path(setup["settings"]))
        self._clock = Clock()
        self._clock.set_left(setup["left_s"])
        packages = setup["packages"] and Path(setup["packages"])
        model = ModelProcess(Path(setup["submission"]), packages, task.limits, task.isolation, Share(**setup["share"]))
        self._lane = Lane(model, task, self._clock, hidden=not task.feedback.model_output)
        Thread(target=self._read, args=(source,), daemon=True).start()

    def run(self) -> None:
        """Follow orders until there are none."""
        try:
            while (order := self._next()) is not None:
                self._follow(order)
        finally:
            self._lane.stop()

    def _read(self, source: IO[str]) -> None:
        for line in source:
            order = json.loads(line)
            if order["do"] == "ask":
                order["work"] = read_work(order["work"], self._top)
            self._coming.put(order)
        self._coming.put(None)

    def _next(self) -> Record | None:
        if self._waiting:
            return self._waiting.popleft()
        return self._coming.get()

    def _glance(self) -> None:
        """Take in what has come meanwhile, without waiting."""
        try:
            while (order := self._coming.get_nowait()) is not None:
                self._waiting.append(order)
        except Empty:
            return
        self._coming.put(None)

    def _follow(self, order: Record) -> None:
        try:
            match order["do"]:
                case "load":
                    self._load([read_clip(clip, self._top, {}) for clip in order["clips"]])
                case "load_afresh":
                    self._say({"op": "loaded" if self._lane.start_afresh() else "not_loaded"})
                case "ask":
                    self._ask(order["number"], order["work"], Pass(**order["how"]))
                case "rest":
                    self._lane.rest()
                case "tell":
                    self._say({"op": "told", **self._told()})
        except IngestionError as error:
            self._say({"op": "fault", "problems": [problem_record(problem) for problem in error.problems]})

    def _load(self, clips: list[Any]) -> None:
        try:
            loaded: Loaded = self._lane.start(clips)
        except LoadFailed as failure:
            self._say({"op": "not_loaded", "problem": problem_record(failure.problem)})
            return
        held = self._lane.held and vars(self._lane.held)
        self._say({"op": "loaded", "loaded": dataclasses.asdict(loaded), "held": held})

    def _ask(self, number: int, work: Work, how: Pass) -> None:
        reached = 0
        for place, asking in enumerate(work.askings):
            if not self._lane.may_go_on(how):
                break
            self._glance()
            ahead = [later.shown for later in work.askings[place + 1 :]]
            for order in self._waiting:
                if order["do"] == "ask":
                    ahead += [later.shown for later in order["work"].askings]
            answer = self._lane.answer(asking, ahead, how)
            self._say({"op": "answer", "number": number, "place": place, "answer": answer_record(answer)})
            reached += 1
        reason = self._lane.stopped_by and problem_record(self._lane.stopped_by)
        self._say({"op": "end", "number": number, "whole": reached == len(work.askings), "reason": reason})

    def _told(self) -> Record:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "refused": dict(self._lane.refused),
            "waited_s": self._lane.waited_s,
            "output": self._lane.output().decode("utf-8", "backslashreplace"),
            "own_s": used.ru_utime + used.ru_stime,
        }

    def _say(self, record: Record) -> None:
        self._sink.write(json.dumps(record, separators=(",", ":")) + "\n")
        self._sink.flush()
