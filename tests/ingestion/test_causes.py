"""Whose fault it is: every row of the table, and which row is taken for what happens."""

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.causes import CAUSES, SHORTAGES, is_shortage, of_ending
from ingest.codes import CODES, Stage
from ingest.confined import ConfinedProcess, Confinement
from ingest.errors import IngestionError, Problem
from ingest.media.video import ClipFacts
from ingest.model import ask_explanation
from ingest.settings import Isolation, read_task
from ingest.workers import ModelWorker
from model_process.protocol import BadMessage, ChannelClosed

ROWS: dict[str, tuple[str, str, str]] = {
    "limit": ("participant", "charged", "too_much"),
    "shortage": ("participant", "charged", "too_much"),
    "decoder": ("participant", "charged", "too_much"),
    "hang": ("participant", "charged", "timeout"),
    "open readings": ("participant", "charged", "timeout"),
    "message": ("participant", "charged", "bad_answer"),
    "odd message": ("participant", "charged", "bad_answer"),
    "exit": ("participant", "charged", "crashed"),
    "signal": ("participant", "charged", "crashed"),
    "kill": ("participant", "charged", "crashed"),
    "restarts": ("participant", "charged", "restarts_used_up"),
    "time": ("participant", "charged", "time_budget"),
    "clip": ("organiser", "excused", "clip_unreadable"),
    "form": ("organiser", "excused", "clip_form"),
    "changed clip": ("organiser", "end of the run", "clip_lost"),
    "disk": ("organiser", "end of the run", "disk_full"),
    "output": ("organiser", "end of the run", "output_closed"),
    "isolation": ("organiser", "end of the run", "isolation_too_weak"),
    "gpu": ("organiser", "excused", "gpu_missing"),
    "busy": ("organiser", "excused", "machine_busy"),
    "check": ("organiser", "charged", "check_failed"),
    "watchdog": ("organiser", "end of the run", "watchdog"),
    "program": ("organiser", "end of the run", "unexpected"),
}
FACTS: dict[str, Any] = dict.fromkeys(
    ("found", "expected", "fix", "kind", "error", "name", "how", "survivor", "faster", "level", "required"),
    "{odd} words",
) | {"limit_s": 2.0, "waited_s": 1.0, "elapsed_s": 2.0}


@pytest.mark.parametrize("name", CAUSES)
def test_every_row_says_whose_fault_it_is(name: str) -> None:
    cause = CAUSES[name]
    stage: Stage = CODES[cause.code].stages[0]
    problem = cause.as_problem(stage, "x", **FACTS)
    assert (problem.fault, cause.follows, problem.code) == ROWS[name]
    assert all((problem.found, problem.expected, problem.fix))
    assert "{" not in problem.line().replace("{odd} words", "")
    assert replace(problem, excused=True).fault == "organiser"
    assert problem.record()["fault"] == problem.fault


CLOSED = ChannelClosed()
ENDINGS: list[tuple[str, Exception, int | None, dict[str, bool]]] = [
    ("limit", CLOSED, -signal.SIGKILL, {"over_limit": True}),
    ("limit", TimeoutError(), None, {"over_limit": True}),
    ("disk", CLOSED, -signal.SIGKILL, {"disk_filled": True}),
    ("hang", TimeoutError(), None, {}),
    ("message", BadMessage("x"), None, {}),
    *(("shortage", OSError(number, os.strerror(number)), None, {}) for number in sorted(SHORTAGES)),
    ("shortage", MemoryError(), None, {}),
    ("odd message", OSError(errno.EIO, "x"), None, {}),
    ("odd message", RecursionError(), None, {}),
    ("kill", CLOSED, -signal.SIGKILL, {}),
    ("signal", CLOSED, -signal.SIGSEGV, {}),
    ("exit", CLOSED, 0, {}),
    ("exit", CLOSED, 3, {}),
    ("exit", CLOSED, None, {}),
]


@pytest.mark.parametrize(("name", "error", "status", "watch"), ENDINGS)
def test_how_a_call_ends_decides_the_row(
    name: str, error: Exception, status: int | None, watch: dict[str, bool]
) -> None:
    assert of_ending(error, status, **{"over_limit": False, "disk_filled": False, **watch}) == name


def ended(process: Any, watch: Any, error: Exception) -> tuple[ConfinedProcess, Callable[[], Problem]]:  # noqa: ANN401
    confined = ConfinedProcess(Confinement("the model process", Path(), None, 64, 1, Isolation()))
    confined._process, confined._watch = process, watch
    confined._group = SimpleNamespace(kill=lambda _: None, end=lambda _: None)  # type: ignore[assignment]
    return confined, lambda: confined.end_badly(error, "predict", "predict", 2.0)


def test_an_ended_process_is_told_in_the_words_of_its_row() -> None:
    calm = SimpleNamespace(reason=None, disk_filled=False, stop=lambda: None)
    for status, said, killed in ((-9, "was ended by SIGKILL", True), (3, "ended by itself (exit 3)", False)):
        process = SimpleNamespace(pid=1, wait=lambda timeout, status=status: status)
        confined, end = ended(process, calm, CLOSED)
        assert end().found == f"the model process {said}"
        assert confined.killed == killed
    process = SimpleNamespace(pid=1, wait=lambda timeout: -9)
    over = SimpleNamespace(**{**vars(calm), "reason": ("9 MB", "1 MB", "use less")})
    problem = ended(process, over, CLOSED)[1]()
    assert (problem.code, problem.found, problem.expected, problem.fix) == ("too_much", "9 MB", "1 MB", "use less")
    with pytest.raises(IngestionError, match="disk_full"):
        ended(process, SimpleNamespace(**{**vars(calm), "disk_filled": True}), CLOSED)[1]()


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "x"), MemoryError()])
def test_what_is_used_up_while_an_answer_is_checked_was_used_up_by_the_model(error: Exception, phase: Path) -> None:
    class Hungry:
        def explain(self, *_: object) -> object:
            raise error

        def stop(self) -> None: ...

    problems: list[Problem] = []
    facts = ClipFacts.__new__(ClipFacts)
    assert ask_explanation(Hungry(), facts, read_task(phase / "task.yaml"), 1, {}, problems) is None  # type: ignore[arg-type]
    assert [(problem.code, problem.fault) for problem in problems] == [("too_much", "participant")]
    assert not is_shortage(OSError(errno.EACCES, "x"))


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "x"), MemoryError(), RuntimeError("can't start new thread")])
def test_what_is_used_up_when_a_model_starts_again_was_used_up_by_the_model(error: Exception, phase: Path) -> None:
    starts: list[Exception | None] = [error, None, error]
    stops: list[str] = []

    def start(timeout_s: float) -> None:
        if failure := starts.pop(0):
            raise failure

    model, clock = SimpleNamespace(start=start, stop=lambda: stops.append("")), SimpleNamespace(left_s=lambda: 60.0)
    worker = ModelWorker(model, read_task(phase / "task.yaml"), clock, hidden=False)  # type: ignore[arg-type]
    with pytest.raises(type(error)):
        worker.start_afresh()  # nobody has used anything up yet
    assert worker.start_afresh()
    assert not worker.start_afresh()
    assert stops == [""]  # it could have begun to run
