"""Whatever a model process sends is an answer, is refused in words, or fails its call; it is never the clip's fault."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.confined import ConfinedProcess
from ingest.errors import Problem
from ingest.media.alteration import ClipSource
from ingest.model import CallFailed, LoadFailed, ModelProcess, ask_explanation, ask_prediction
from ingest.requests import read_request
from ingest.settings import Isolation, Limits, Task, read_task
from model_process.protocol import BadMessage, ChannelClosed, Message
from tests.ingestion.test_fuzz import anything

LIMITS = Limits(time_limit_s=60, load_s=5, call_s=5, restarts=1)
ARGUMENTS = {"count": 2, "fps": None, "start_s": 0.0, "end_s": 1, "time_s": None, "size": [8, 6]}
VALID: dict[str, dict[str, Any]] = {
    "confined": {"level": "full", "landlock": 7},
    "ready": {"notes": {"alone": False}},
    "failed": dict.fromkeys(("code", "where", "found", "expected", "fix"), "x"),
    "frames": {"stream": 0, "request": ARGUMENTS},
    "free": {"slots": [[0, 0]], "left": [0]},
    "audio": {"rate": 8000},
    "answer": {"number": 1, "value": {"warmth": 0.5, "interview": 0.5}},
    "raised": {"number": 1, "found": "x", "where": "model.py"},
}
WRONG: list[Any] = [
    None,
    True,
    1.5,
    8.0,
    math.nan,
    math.inf,
    -1,
    10**400,
    "1",
    {},
    [True],
    [True, 0],
    [[True, 0]],
    [[0, 1.0]],
    [[[]]],
]
FREE = {("ready", "notes"), ("answer", "value"), ("audio", "rate"), ("frames", "request")}
"""Fields whose content is checked by whoever reads it."""


class Puppet(ConfinedProcess):
    """A process that says what it was given, then ends; nothing is started."""

    def say(self, *bodies: dict[str, Any]) -> None:
        self.bodies, self.heard = list(bodies), list[dict[str, Any]]()

    def start(self, *, again: bool = False) -> None: ...

    def check_sandbox(self) -> None: ...

    def send(self, body: dict[str, Any], **_: object) -> None:
        self.heard.append(body)

    def receive(self) -> Message:
        if not self.bodies:
            raise ChannelClosed
        return Message(self.bodies.pop(0), b"", None)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelProcess]:
    model = ModelProcess(tmp_path_factory.mktemp("submission"), None, LIMITS, Isolation())
    model.process.__class__ = Puppet
    yield model
    model.frames.close()


@pytest.fixture(scope="module")
def task(phase: Path) -> Task:
    return read_task(phase / "task.yaml")


def ask(model: ModelProcess, clip: Path, task: Task, body: dict[str, Any]) -> list[Problem]:
    """Let a model say one thing in a call on a clip, and answer if that is still possible; return what it is told."""
    problems: list[Problem] = []
    model._calls = 0
    model.process.say(body, {"op": "answer", **VALID["answer"]})  # type: ignore[attr-defined]
    source = ClipSource("c000", clip, "")
    ask_prediction(model, source, model.frames.begin(source), task, 5.0, problems)
    end = model.frames.end()
    assert end.faults == [], body
    return problems


def check(problems: list[Problem]) -> None:
    for problem in problems:
        assert (problem.fault, problem.code in {"check_failed", "too_much"}) == ("participant", False), problem
        assert "unreadable answer" not in problem.found, problem
        assert len(problem.line()) < 2000


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, fields in VALID.items() for name in fields])
def test_a_field_of_the_wrong_type_is_named(op: str, name: str) -> None:
    read_request({"op": op, **VALID[op], "more": 1})
    text = isinstance(VALID[op][name], str) and name != "level"
    for wrong in [value for value in WRONG if not (text and value == "1")] if (op, name) not in FREE else ():
        with pytest.raises(BadMessage, match=f"a malformed request: {op} with {name}"):
            read_request({"op": op, **VALID[op], name: wrong})
    with pytest.raises(BadMessage, match="malformed"):
        read_request({"op": op, **{key: value for key, value in VALID[op].items() if key != name}})


@pytest.mark.parametrize("op", [*WRONG, "predict"], ids=repr)
def test_a_message_of_no_kind_is_refused(op: object) -> None:
    with pytest.raises(BadMessage, match="unknown request"):
        read_request({"op": op})


@pytest.mark.parametrize("op", VALID)
def test_wrong_types_in_a_call_are_the_models_fault(
    op: str, model: ModelProcess, numbered_clip: Path, task: Task
) -> None:
    for name in VALID[op]:
        for wrong in WRONG:
            check(ask(model, numbered_clip, task, {"op": op, **VALID[op], name: wrong}))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wrong_arguments_are_refused_in_words(name: str, model: ModelProcess, numbered_clip: Path, task: Task) -> None:
    for wrong in [*WRONG, [True, 6], [8, 6, 1], [8.0, 6], [5000, 6], [0, 0], [-8, 6]]:
        arguments = {**ARGUMENTS, name: wrong} if name == "size" else {name: wrong}
        problems = ask(model, numbered_clip, task, {"op": "frames", "stream": 0, "request": arguments})
        assert problems == []
        (said, *_) = [body for body in model.process.heard if "stream" in body]  # type: ignore[attr-defined]
        fine = wrong is None or (type(wrong) is float and math.isfinite(wrong) and name not in {"count", "size"})
        fine |= wrong == -1 and type(wrong) is int and name in {"start_s", "end_s", "time_s"}
        assert ("error" in said) != fine, (name, wrong, said)
        if not fine:
            assert said["error"].startswith(f"frames: {name} is ")


messages = st.sampled_from([*VALID]).flatmap(
    lambda op: st.fixed_dictionaries({"op": st.just(op)}, optional=dict.fromkeys(VALID[op], anything))
)
arguments = st.fixed_dictionaries({}, optional=dict.fromkeys(ARGUMENTS, anything))


@settings(deadline=None)
@given(message=messages, arguments=arguments)
def test_any_message_is_an_answer_or_the_models_fault(
    message: dict[str, Any], arguments: dict[str, Any], model: ModelProcess, numbered_clip: Path, task: Task
) -> None:
    check(ask(model, numbered_clip, task, VALID[message["op"]] | message))
    check(ask(model, numbered_clip, task, {"op": "frames", "stream": 0, "request": arguments}))


@given(value=anything)
def test_any_explanation_is_one_or_the_models_fault(
    value: object, model: ModelProcess, numbered_clip: Path, task: Task
) -> None:
    problems: list[Problem] = []
    source = ClipSource("c000", numbered_clip, "")
    model._calls = 0
    model.process.say({"op": "answer", "number": 1, "value": value})  # type: ignore[attr-defined]
    ask_explanation(model, model.frames.begin(source), task, 5.0, {}, problems)
    check(problems)


@pytest.mark.parametrize("op", [op for op in VALID if op != "ready"])
def test_what_is_said_in_place_of_being_ready_fails_the_submission(op: str, model: ModelProcess) -> None:
    model.process.say({"op": op, **VALID[op]})  # type: ignore[attr-defined]
    with pytest.raises(LoadFailed) as failure:
        model.start(5)
    assert failure.value.problem.fault == "participant"


def test_an_answer_to_another_question_is_none(model: ModelProcess, numbered_clip: Path, task: Task) -> None:
    for number in (0, 2):
        problems = ask(model, numbered_clip, task, {"op": "answer", "number": number, "value": {}})
        assert [problem.found for problem in problems] == ["an answer to another question"]
    assert issubclass(LoadFailed, CallFailed)
