"""What a confined process says instead of being ready may be anything; it becomes a few short texts."""

from pathlib import Path
from typing import Any

import pytest

from ingest.errors import Problem
from ingest.legacy.files import ResultFiles
from ingest.legacy.reader import ReadingFailed, ResultsReader
from ingest.media.frame_server import FrameServer
from ingest.model.process import LoadFailed, ModelProcess
from ingest.settings import Isolation, Limits
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
    "deep": nested(5000),
}


class Strange:
    """A process that says the same thing under every key."""

    def __init__(self, value: object) -> None:
        self.value = value

    killed = False

    def start(self, *, again: bool = False) -> None: ...

    def stop(self) -> None: ...

    def allow(self, timeout_s: float) -> None: ...

    def check_walls(self) -> None: ...

    def send(self, *_: object, **__: object) -> None: ...

    def receive(self) -> Message:
        keys = ("op", "code", "where", "found", "expected", "fix")
        return Message(dict.fromkeys(keys, self.value), b"", None)


@pytest.mark.parametrize("name", STRANGE)
def test_a_start_that_fails_with_strange_words_is_a_short_problem(name: str, tmp_path: Path) -> None:
    model = ModelProcess(tmp_path, None, FrameServer(), LIMITS, Isolation())
    reader = ResultsReader(tmp_path, None, ResultFiles("2017", "prediction.pkl", None), LIMITS, Isolation())
    model.process = reader.process = Strange(STRANGE[name])  # type: ignore[assignment]
    with pytest.raises(LoadFailed) as not_loaded:
        model.start(5)
    with pytest.raises(ReadingFailed) as not_read:
        reader.start()
    for problem in (not_loaded.value.problem, not_read.value.problem):
        assert set(said(problem)) <= set(STRANGE["endless"][:600])
        assert len(problem.line()) < 4000


def said(problem: Problem) -> str:
    """Give what comes from the process alone."""
    return problem.where + problem.found + problem.expected
