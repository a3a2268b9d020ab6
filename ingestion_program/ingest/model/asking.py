"""Ask the model for a prediction or an explanation of one clip, and check the answer."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.errors import IngestionError, Problem, Stage
from ingest.media.clip import ClipSource
from ingest.media.jpeg import encode_jpeg
from ingest.media.video import ClipFacts
from ingest.model.answers import check_explanation, check_prediction
from ingest.model.process import CallFailed, ModelProcess
from ingest.settings import Task


@dataclass(frozen=True)
class Told:
    """The valid parts of an explanation, as they are recorded."""

    text: str | None = None
    """Cleaned text."""
    image: bytes | None = None
    """The picture as JPEG."""
    evidence: dict[str, Any] | None = None
    """As in `explanations.jsonl`; claims about cues are not rounded."""

    def record(self) -> dict[str, Any]:
        """Return what is written of an explanation that was asked for again: everything but the picture."""
        return {"text": self.text, "image": None, "evidence": self.evidence}


@dataclass
class CallResult:
    """The answers and problems of one clip so far."""

    prediction: dict[str, float] | None = None
    """Every target inside its range; None without a valid prediction."""
    explanation: Told | None = None
    """The valid parts; None without an explanation."""
    problems: list[Problem] = field(default_factory=list)
    """All problems."""


def ask_prediction(
    model: ModelProcess, clip: ClipSource, facts: ClipFacts, task: Task, timeout_s: float, asked: CallResult
) -> None:
    """Ask for the prediction of a clip; a failure leaves it None and adds a problem.

    Raises
    ------
    IngestionError
        When the machine is at fault.
    """
    with _no_end_of_the_run("predict", model, asked):
        value = model.predict(clip, facts, timeout_s)
        asked.prediction, found = check_prediction(value, task.targets)
        asked.problems += found


def ask_explanation(model: ModelProcess, facts: ClipFacts, task: Task, timeout_s: float, asked: CallResult) -> None:
    """Ask to explain the prediction in `asked`, of the last clip; a failure leaves it None and adds a problem.

    Raises
    ------
    IngestionError
        When the machine is at fault.
    """
    with _no_end_of_the_run("explain", model, asked):
        value = model.explain(asked.prediction or {}, timeout_s)
        explanation, found = check_explanation(value, task.explanation, task.targets, facts.duration_s)
        asked.explanation = Told(
            explanation.text,
            None if explanation.image is None else encode_jpeg(explanation.image),
            None if explanation.evidence is None else explanation.evidence.record(),
        )
        asked.problems += found


@contextlib.contextmanager
def _no_end_of_the_run(stage: Stage, model: ModelProcess, asked: CallResult) -> Iterator[None]:
    """Add a problem if a call or the check of its answer fails; only a fault of the machine is raised."""
    try:
        yield
    except CallFailed as failure:
        asked.problems.append(failure.problem)
    except IngestionError:
        raise
    except Exception as error:  # noqa: BLE001 - an answer must not end the run
        model.stop()  # its next answers cannot be trusted
        asked.problems.append(check_failed(stage, error))


def check_failed(stage: Stage, error: BaseException) -> Problem:
    """Return the problem that an answer's check has failed."""
    # Only the type: the text of an exception may quote the answer.
    found = f"{type(error).__name__} while checking this answer"
    fix = "tell the organisers: it is not your fault"
    return Problem("check_failed", stage, stage, found, "an answer that can be checked", fix, fault="organiser")
