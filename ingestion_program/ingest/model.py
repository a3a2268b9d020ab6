"""Start a model in a confined process, and ask it."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from ingest.answers import check_explanation, check_prediction
from ingest.causes import CAUSES, is_shortage
from ingest.codes import Stage
from ingest.confine import ProcessGroup
from ingest.confined import ConfinedProcess, Confinement
from ingest.errors import IngestionError, Problem
from ingest.media.alteration import ClipSource
from ingest.media.buffers import FrameBuffer
from ingest.media.frame_server import FrameServer
from ingest.media.video import ClipFacts, encode_jpeg
from ingest.requests import Answered, Audio, BadRequest, Failed, Frames, Free, Raised, Ready, read_request
from ingest.settings import Isolation, Limits, Task
from model_process.packing import unpack
from model_process.protocol import MAXIMUM_BLOB_BYTES, BadMessage, ChannelClosed


class CallFailed(Exception):
    """A call gave no answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.line())
        self.problem = problem


class LoadFailed(CallFailed):
    """The model could not be loaded."""


class ModelProcess:
    """The process that runs the participant's model. After it has died, `start` starts a new one."""

    runs_code = True
    """Whether it can predict altered copies, and its first call may take longer."""
    explains = True
    """Whether `explain` can be called."""
    name = "model process"
    """Its name in messages."""
    loaded = "model loaded"
    """Log message when it has started."""
    survivor = "a process that keeps running"
    """What messages say was expected, if it died too often."""
    faster = "make the model faster: read fewer or smaller frames"
    """Advice in messages when time runs out."""

    def __init__(
        self,
        submission: Path,
        packages: Path | None,
        limits: Limits,
        isolation: Isolation,
        group: ProcessGroup | None = None,
    ) -> None:
        """Take where packages were installed for this run, and what it shares with models beside it."""
        self.frames = FrameServer()
        """Serves frames and sound of the clips."""
        self._submission = submission.resolve()
        self._results: dict[str, Any] | None = None
        self._notes: object = None
        self._limits = limits
        self.process = ConfinedProcess(
            Confinement(
                name=f"the {self.name}",
                submission=self._submission,
                packages=packages,
                memory_mb=limits.memory_mb,
                cpu_s=int(limits.time_limit_s) * (os.cpu_count() or 1),
                isolation=isolation,
            ),
            group,
            self.frames.sizes,
        )
        """The confined process in which the model runs."""
        # Buffers are numbered anew for each process: our numbers would tell it how many clips came before.
        self._known: dict[int, int] = {}
        self._dropped: list[int] = []
        # The decoders' threads announce frames too.
        self._announcing = RLock()
        self._calls = 0

    def start(self, timeout_s: float) -> None:
        """Start the process and load the model; if something outside ends it, try once more within the same time.

        Raises
        ------
        LoadFailed
            When the model cannot be loaded in time.
        IngestionError
            When this machine cannot isolate a model as the settings require.
        """
        deadline = time.monotonic() + timeout_s
        try:
            self._load(timeout_s)
        except LoadFailed:
            if not self.process.killed:
                raise
            self._load(deadline - time.monotonic(), again=True)

    def _load(self, timeout_s: float, *, again: bool = False) -> None:
        self.process.start(again=again)
        self.frames.forget()
        self._known.clear()
        self._dropped.clear()
        self._calls = 0
        self.process.allow(timeout_s)
        try:
            self.process.check_sandbox()
            self.process.send({"op": "load", "submission": str(self._submission), "results": self._results})
            match read_request(self.process.receive().body):
                case Ready(notes=notes):
                    self._notes = notes
                case Failed() as told:
                    raise LoadFailed(Problem(told.code, "load", told.where, told.found, told.expected, told.fix))
                case _:
                    raise BadMessage("a request before the submission is loaded")
        except (LoadFailed, IngestionError):
            self.stop()
            raise
        except (ChannelClosed, BadMessage, TimeoutError) as error:
            raise LoadFailed(self._end_badly(error, "load", timeout_s)) from None

    def predict(self, clip: ClipSource, facts: ClipFacts, timeout_s: float) -> object:
        """Return what `predict` returned, as plain JSON types and arrays.

        Raises
        ------
        CallFailed
            When it raised, crashed or hung.
        """
        return self._call({"call": "predict", **self._view(clip, facts)}, "predict", timeout_s)

    def explain(self, prediction: dict[str, float], timeout_s: float) -> object:
        """Return what `explain` returned for the clip that was predicted last, as plain JSON types and arrays.

        Raises
        ------
        CallFailed
            When it raised, crashed or hung.
        """
        return self._call({"call": "explain", "prediction": prediction}, "explain", timeout_s)

    @property
    def alone(self) -> bool:
        """Whether the model asks that no other process holds it at the same time."""
        return isinstance(self._notes, dict) and self._notes.get("alone") is True

    def remarks(self) -> list[Problem]:
        """Return warnings about what was submitted as a whole."""
        return []

    def forget(self, buffers: list[int]) -> None:
        """Tell the model process, with the next call, to drop buffers that were released."""
        self._dropped += buffers

    def stop(self) -> None:
        """Stop the process and all its children."""
        self.process.stop()

    def _view(self, clip: ClipSource, facts: ClipFacts) -> dict[str, Any]:
        """Return what the model is told of the clip; nothing identifies it."""
        clip_facts = {
            "duration_s": facts.duration_s,
            "fps": facts.fps,
            "width": facts.width,
            "height": facts.height,
            "frame_count": len(facts.times),
            "transcript": clip.transcript,
        }
        return {"clip": clip_facts}

    def _call(self, order: dict[str, Any], stage: Stage, timeout_s: float) -> object:
        self.process.allow(timeout_s)
        dropped, self._dropped = self._as_known(self._dropped), []
        self._calls += 1
        try:
            self.process.send({**order, "number": self._calls, "drop": dropped})
            while True:
                message = self.process.receive()
                match read_request(message.body):
                    case Frames(stream=number, request=arguments):
                        self.frames.open(number, arguments, self._send_frames)
                    case Free(slots=slots, left=left):
                        self.frames.free(slots, left)
                    case Audio(rate=rate):
                        self._send_sound(rate)
                    case Answered(number=self._calls, value=value):
                        return unpack(value, message.blob)
                    case Raised(number=self._calls) as error:
                        raise CallFailed(self._raised(error, stage))
                    case _:
                        # Sent twice, or unasked: nothing from this process can be trusted any more.
                        raise BadMessage("an answer to another question")
        except CallFailed:
            raise
        except Exception as error:
            raise CallFailed(self._end_badly(error, stage, timeout_s)) from error

    def _send_sound(self, rate: object) -> None:
        try:
            sound = self.frames.sound(rate)
        except BadRequest as error:
            self.process.send({"op": "audio", "error": str(error)})
            return
        if sound is not None and sound.nbytes > MAXIMUM_BLOB_BYTES:
            self.process.send(
                {"op": "audio", "error": f"audio: too long for {rate} samples a second; ask for a lower rate"}
            )
        elif sound is None:
            self.process.send({"op": "audio", "silent": True})
        else:
            self.process.send({"op": "audio"}, blob=sound.tobytes())

    def _send_frames(self, body: dict[str, Any], buffer: FrameBuffer | None) -> None:
        with self._announcing:
            descriptor = None
            if buffer is not None:
                if buffer.number not in self._known:
                    self._known[buffer.number] = len(self._known)
                    descriptor = buffer.descriptor
                body = {**body, "buffer": self._known[buffer.number], "drop": self._as_known(body["drop"])}
            # The process may just have died; the thread that waits for its answer will notice.
            with contextlib.suppress(ChannelClosed, TimeoutError):
                self.process.send(body, descriptor=descriptor)
            if buffer is not None:  # known from now on, so its file is not needed again
                buffer.close()

    def _as_known(self, buffers: list[int]) -> list[int]:
        return [self._known[number] for number in buffers if number in self._known]

    def _end_badly(self, error: Exception, stage: Stage, timeout_s: float) -> Problem:
        return self.process.end_badly(error, stage, "model.py" if stage == "load" else stage, timeout_s)

    def _raised(self, error: Raised, stage: Stage) -> Problem:
        return Problem("model_raised", stage, error.where, error.found, "an answer for every clip", "correct that line")


@dataclass(frozen=True)
class CheckedExplanation:
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


def ask_prediction(
    model: ModelProcess, clip: ClipSource, facts: ClipFacts, task: Task, timeout_s: float, problems: list[Problem]
) -> dict[str, float] | None:
    """Return the prediction of a clip, every target inside its range; None after a failure, with what was wrong.

    Raises IngestionError when the machine is at fault.
    """
    prediction = None
    with _no_end_of_the_run("predict", model, problems):
        prediction, wrong = check_prediction(model.predict(clip, facts, timeout_s), task.targets)
        problems += wrong
    return prediction


def ask_explanation(
    model: ModelProcess,
    facts: ClipFacts,
    task: Task,
    timeout_s: float,
    prediction: dict[str, float],
    problems: list[Problem],
) -> CheckedExplanation | None:
    """Return the explanation of the prediction of the last clip; None after a failure, with what was wrong.

    Raises IngestionError when the machine is at fault.
    """
    with _no_end_of_the_run("explain", model, problems):
        value = model.explain(prediction, timeout_s)
        explanation, wrong = check_explanation(value, task.explanation, task.targets, facts.duration_s)
        problems += wrong
        return CheckedExplanation(
            explanation.text,
            None if explanation.image is None else encode_jpeg(explanation.image),
            None if explanation.evidence is None else explanation.evidence.record(),
        )
    return None


@contextlib.contextmanager
def _no_end_of_the_run(stage: Stage, model: ModelProcess, problems: list[Problem]) -> Iterator[None]:
    """Add a problem if a call or the check of its answer fails; only a fault of the machine is raised."""
    try:
        yield
    except CallFailed as failure:
        problems.append(failure.problem)
    except IngestionError:
        raise
    except Exception as error:  # noqa: BLE001 - an answer must not end the run
        model.stop()  # its next answers cannot be trusted
        # Only the type: the text of an exception may quote the answer.
        cause = CAUSES["shortage" if is_shortage(error) else "check"]
        problems.append(cause.as_problem(stage, stage, kind=type(error).__name__))
