"""What a confined process says when it is started may be anything; it becomes a few short texts."""

from pathlib import Path
from typing import Any

import pytest

from ingest.codes import Stage
from ingest.errors import Problem
from ingest.model import LoadFailed, ModelProcess
from ingest.results import ResultsReader
from ingest.settings import Isolation, Limits, read_task
from model_process.protocol import Message

LIMITS = Limits(time_limit_s=60, load_s=5, call_s=5, restarts=1)


def nested(depth: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    return deep


STRANGE: dict[str, Any] = {
    "nothing": None,
    "number": 7.5,
    "object": {"found": "x" * 10_000},
    "endless": "x" * 1_000_000,
    "many": ["x" * 10_000] * 10_000,
    "deep": nested(5000),
}


class Strange:
    """A process that says the same thing under every key."""

    killed = False

    def __init__(self, value: object, op: str) -> None:
        self.words = dict.fromkeys(("code", "where", "found", "expected", "fix"), value)
        self.words["op"] = op
        self.words["notes"] = dict.fromkeys(("renamed", "unknown", "named", "oddities"), value)

    def start(self, *, again: bool = False) -> None: ...

    def stop(self) -> None: ...

    def allow(self, timeout_s: float) -> None: ...

    def check_sandbox(self) -> None: ...

    def send(self, *_: object, **__: object) -> None: ...

    def receive(self) -> Message:
        return Message(self.words, b"", None)

    def end_badly(self, error: Exception, stage: Stage, where: str, timeout_s: float) -> Problem:
        return Problem("bad_answer", stage, where, str(error), f"an answer in {timeout_s} s", "")


@pytest.mark.parametrize("name", STRANGE)
def test_a_start_that_fails_with_strange_words_is_a_short_problem(name: str, tmp_path: Path) -> None:
    model = ModelProcess(tmp_path, None, LIMITS, Isolation())
    model.process = Strange(STRANGE[name], "failed")  # type: ignore[assignment]
    with pytest.raises(LoadFailed) as not_loaded:
        model.start(5)
    problem = not_loaded.value.problem
    assert (problem.code == "bad_answer") != (name == "endless")
    assert len(problem.line()) < 4000


@pytest.mark.parametrize("name", STRANGE)
def test_strange_words_about_results_are_short_remarks(name: str, phase: Path, tmp_path: Path) -> None:
    task = read_task(phase / "task.yaml")
    (tmp_path / "prediction.pkl").touch()
    reader = ResultsReader(tmp_path, None, task, {})
    reader.process = Strange(STRANGE[name], "ready")  # type: ignore[assignment]
    reader.start(5)
    assert all(len(problem.line()) < 4000 for problem in reader.remarks())
