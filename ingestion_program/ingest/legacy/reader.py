"""The reading process, seen from outside: what strangers' files say is asked of it, clip by clip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.confined.process import ConfinedProcess, Confinement
from ingest.errors import Problem
from model_process.packing import unpack
from model_process.protocol import BadMessage, ChannelClosed

if TYPE_CHECKING:
    from ingest.legacy.files import ResultFiles
    from ingest.settings import Isolation, Limits

MAIN = Path(__file__).resolve().parent / "child.py"
MEMORY_MB = 1024
"""Private memory of the reading process: pictures are read one at a time, so this is enough for any number."""
FIX = "write the files as the page on results shows; try them at home with `run.py` of the starting kit"


class ReadingFailed(Exception):
    """The files, or one answer, cannot be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.line())
        self.problem = problem


@dataclass(frozen=True)
class ClipAnswer:
    """What results say of one clip; unchecked."""

    prediction: object
    """As `predict` would have returned it; None where there is nothing."""
    explanation: object
    """As `explain` would have returned it; None where the submission explains nothing at all."""
    unreadable: str | None
    """Why the explanation cannot be read."""


@dataclass(frozen=True)
class Remarks:
    """What there is to say when all clips have been asked for; unchecked."""

    unknown: int
    """Number of names that are no clips of the task."""
    named: str
    """A few of them."""
    numbers_as_text: bool
    """Whether numbers came as text."""


class ResultsReader:
    """One process that holds the opened files."""

    def __init__(
        self, submission: Path, packages: Path | None, files: ResultFiles, limits: Limits, isolation: Isolation
    ) -> None:
        self._submission = submission.resolve()
        self._files = files
        self._limits = limits
        self.process = ConfinedProcess(
            Confinement(
                name="the process that reads the results",
                main=MAIN,
                submission=self._submission,
                packages=packages,
                memory_mb=min(MEMORY_MB, limits.memory_mb),
                cpu_s=int(limits.time_limit_s),
                isolation=isolation,
            )
        )
        """Where the files are read: whether it lives, what it printed, how often it was started."""
        self._calls = 0

    def start(self) -> None:
        """Start the process and open the files.

        Raises
        ------
        ReadingFailed
            When they cannot be read in time; what is wrong with a submitted file may be told in any phase.
        IngestionError
            When this machine cannot hold a process in as the settings require.
        """
        self.process.start()
        self.process.allow(self._limits.load_s)
        files = {"predictions": self._files.predictions, "explanations": self._files.explanations}
        try:
            self.process.check_walls()
            self.process.send({"op": "read", "submission": str(self._submission), "form": self._files.form, **files})
            answer = self.process.receive()
        except (ChannelClosed, BadMessage, TimeoutError) as error:
            ended = self.process.end_badly(error, "load", self._files.predictions, self._limits.load_s)
            found, where = ended.found, " or ".join(sorted(self._files.names))
            raise ReadingFailed(_unreadable(where, found, "files that can be read in time and memory")) from None
        if answer.body.get("op") != "ready":
            self.stop()
            raise ReadingFailed(_unreadable(*(answer.text(key, 400) for key in ("where", "found", "expected"))))

    def ask(self, names: list[str], timeout_s: float) -> ClipAnswer:
        """Return what the files say of the clip that stands in them under one of `names`.

        Raises
        ------
        ReadingFailed
            When the process died over it.
        """
        body = self._call({"call": "clip", "names": names}, timeout_s)
        unreadable = body.get("unreadable")
        return ClipAnswer(
            body.get("prediction"),
            body.get("explanation"),
            unreadable[:300] if isinstance(unreadable, str) else None,
        )

    def finish(self, timeout_s: float) -> Remarks:
        """Return what there is to say of the files as a whole.

        Raises
        ------
        ReadingFailed
            When the process died over it.
        """
        body = self._call({"call": "remarks"}, timeout_s)
        unknown, named = body.get("unknown"), body.get("named")
        return Remarks(
            unknown if isinstance(unknown, int) else 0,
            ", ".join(name[:80] for name in named[:5] if isinstance(name, str)) if isinstance(named, list) else "",
            body.get("numbers_as_text") is True,
        )

    def stop(self) -> None:
        """End the process."""
        self.process.stop()

    def _call(self, order: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Return what the process answers, with its arrays."""
        self._calls += 1
        self.process.allow(timeout_s)
        try:
            self.process.send({**order, "number": self._calls})
            message = self.process.receive()
            if message.body.get("op") != "answer" or message.body.get("number") != self._calls:
                raise BadMessage("an answer to another question")
            return {key: unpack(value, message.blob) for key, value in message.body.items()}
        except (ChannelClosed, BadMessage, TimeoutError) as error:
            raise self._lost(error, timeout_s) from None
        except Exception as error:
            odd = BadMessage(f"something that cannot be read ({type(error).__name__})")
            raise self._lost(odd, timeout_s) from error

    def _lost(self, error: Exception, timeout_s: float) -> ReadingFailed:
        ended = self.process.end_badly(error, "predict", "predict", timeout_s)
        fix = "look at what the files hold for this clip"
        found, expected = ended.found, "an entry that can be read"
        return ReadingFailed(Problem("result_unreadable", "predict", "predict", found, expected, fix))


def _unreadable(where: str, found: str, expected: str) -> Problem:
    return Problem("results_unreadable", "load", where, found, expected, FIX)
