"""The interface through which a run asks for predictions and explanations, of one model, several, or results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ingest.errors import Problem

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from ingest.media.clip import ClipSource
    from ingest.model.asking import Told
    from model_process.sandbox import Isolated


@dataclass(frozen=True)
class Asking:
    """One question: predict for a clip, and explain if asked to."""

    shown: ClipSource
    """A clip, or an altered copy of it."""
    explains: bool
    """Whether to ask for an explanation too."""


@dataclass(frozen=True)
class Work:
    """All questions about one clip in one pass, asked in this order in one process."""

    clip_id: str
    askings: tuple[Asking, ...]
    """At least one."""


@dataclass(frozen=True)
class Answer:
    """The outcome of a question."""

    prediction: dict[str, float] | None = None
    """A value within range for every target; None without a valid prediction."""
    explanation: Told | None = None
    """The valid parts; None if none was asked for or returned."""
    problems: tuple[Problem, ...] = ()
    """Everything that was wrong."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long `predict` and `explain` took, if they were called."""
    unreadable: bool = False
    """Whether the clip's file cannot be decoded."""
    died: bool = False
    """Whether the model died while answering and must be restarted."""
    took_s: float = 0.0
    """Total time in seconds, including decoding and restarting the model."""


@dataclass(frozen=True)
class Pass:
    """Settings of one pass over the clips."""

    counts: bool
    """Whether this is the first pass, whose answers are scored."""
    call_s: float
    """Time limit of a call, seconds."""
    spare_s: float
    """A dead model is restarted only if at least this much time is left, seconds."""


@dataclass(frozen=True)
class Loaded:
    """A loaded model."""

    what: str
    """What was loaded, for the log."""
    load_s: float
    """Loading time, seconds."""
    warm_up_s: float | None
    """Duration of the warm-up call, which counts for no clip, seconds; None without one."""
    alone: bool
    """Whether the model asks to run in only one process at a time."""
    cores: float
    """Cores kept busy by the first call; 1 if the call was too short to tell."""


class Asker(Protocol):
    """Answers questions in order, as long as time remains and the model can run."""

    @property
    def explains(self) -> bool:
        """Whether explanations can be asked for."""

    @property
    def runs_code(self) -> bool:
        """Whether it can be asked about altered copies."""

    @property
    def faster(self) -> str:
        """What messages advise when time runs out."""

    @property
    def stopped_by(self) -> Problem | None:
        """Why the last pass ended early; None if time ran out."""

    @property
    def restarts(self) -> int:
        """How often a dead model was restarted."""

    @property
    def workers(self) -> int:
        """The largest number of processes that ran the model side by side."""

    @property
    def held(self) -> Isolated | None:
        """How the model is isolated; None before the first start."""

    @property
    def refused(self) -> Counter[str]:
        """How often each system call was refused, by name."""

    @property
    def waited_s(self) -> float:
        """How long the model's ended processes had waited for a processor, seconds."""

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """Load the model and warm it up on the first clip that can be decoded.

        Raises
        ------
        LoadFailed
            When it cannot be loaded.
        IngestionError
            When this machine cannot isolate a model as the settings require.
        """

    def start_afresh(self, *, alone: bool = False) -> bool:
        """Load the model in new processes, or in a single one if `alone`; return whether that worked."""

    def has_time_to_start(self) -> bool:
        """Tell whether there is time to load the model and ask one question."""

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """Yield each clip's work, the index of the question in it, and the answer, in the order of `works`.

        Raises
        ------
        IngestionError
            When the machine is at fault.
        """

    def remarks(self) -> list[Problem]:
        """Return warnings about the submission as a whole."""

    def output(self) -> bytes:
        """Return the end of what the model printed."""

    def stop(self) -> None:
        """End all processes."""


class Restarts:
    """Counts restarts of a dead model, up to a limit."""

    def __init__(self, limit: int, name: str, survivor: str) -> None:
        """Set the limit, the model's name in messages, and what messages expect of the model."""
        self._limit, self._name, self._survivor = limit, name, survivor
        self.count = 0

    def one_more(self) -> Problem | None:
        """Count one restart; if none is left, return the problem instead."""
        if self.count >= self._limit:
            found, fix = f"a {self._name} that died or hung too often", "look at the first failure in the log"
            return Problem("restarts_used_up", "run", "the remaining clips", found, self._survivor, fix)
        self.count += 1
        return None
