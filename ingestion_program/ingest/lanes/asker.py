"""What a run asks with, whatever answers: what is asked, what comes back, and in which order."""

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
    """One question: a prediction of what is shown, and perhaps an explanation."""

    shown: ClipSource
    """A clip, or what is shown in its place."""
    explains: bool
    """Whether an explanation is asked for too."""


@dataclass(frozen=True)
class Work:
    """All that is asked about one clip in one pass, in this order, of one process."""

    clip_id: str
    """The clip."""
    askings: tuple[Asking, ...]
    """At least one."""


@dataclass(frozen=True)
class Answer:
    """What became of a question."""

    prediction: dict[str, float] | None = None
    """Every target inside its range; None where there is no valid prediction."""
    explanation: Told | None = None
    """The valid parts; None where none was asked for, or none came back."""
    problems: tuple[Problem, ...] = ()
    """Everything that was wrong."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long `predict` and `explain` took, as far as they were called."""
    unreadable: bool = False
    """Whether the clip's file is at fault."""
    died: bool = False
    """Whether the model has ended over it, so that it has to be started again."""
    took_s: float = 0.0
    """Seconds of the whole, with decoding and starting the model again."""


@dataclass(frozen=True)
class Pass:
    """How a pass is asked."""

    counts: bool
    """Whether it is the first one, in which clips get their scores."""
    call_s: float
    """Seconds that a call may take."""
    spare_s: float
    """A model that has died is not started again with less time left, seconds."""


@dataclass(frozen=True)
class Loaded:
    """A model that is ready."""

    what: str
    """What was loaded, for the log."""
    load_s: float
    """How long that took, seconds."""
    warm_up_s: float | None
    """How long the first call took, which is no clip's own; None where there was none."""
    alone: bool
    """Whether it asks that no other process holds it at the same time."""
    cores: float
    """How many cores it kept busy in its first call; 1 where that was too short to tell."""


class Asker(Protocol):
    """Answers questions in their order, as far as there is time and a model."""

    @property
    def explains(self) -> bool:
        """Whether there is anything to ask explanations of."""

    @property
    def runs_code(self) -> bool:
        """Whether it can be asked about altered copies."""

    @property
    def faster(self) -> str:
        """What messages advise where time runs out."""

    @property
    def stopped_by(self) -> Problem | None:
        """Why the last pass ended early; None where time ran out."""

    @property
    def restarts(self) -> int:
        """How often a model that had died was started again."""

    @property
    def workers(self) -> int:
        """How many processes hold the model side by side, at most."""

    @property
    def held(self) -> Isolated | None:
        """What holds the model in; None before the first start."""

    @property
    def refused(self) -> Counter[str]:
        """System calls that it was refused, by name."""

    @property
    def waited_s(self) -> float:
        """How long the model's processes that were ended had stood in line for a processor, seconds."""

    def start(self, clips: Sequence[ClipSource]) -> Loaded:
        """Load the model, and ask it once about the first of the clips that can be decoded.

        Raises
        ------
        LoadFailed
            When it cannot be loaded.
        IngestionError
            When this machine cannot hold a model in as the settings require.
        """

    def start_afresh(self, *, alone: bool = False) -> bool:
        """Load the model in a new process, or in several unless `alone`; return whether that worked."""

    def has_time_to_start(self) -> bool:
        """Tell whether there is time to load the model and to ask it once."""

    def ask(self, works: Iterable[Work], how: Pass) -> Iterator[tuple[Work, int, Answer]]:
        """Yield each work, the number of the question in it, and the answer, in the order of the works.

        Raises
        ------
        IngestionError
            When the machine is at fault.
        """

    def remarks(self) -> list[Problem]:
        """Return warnings about what was submitted as a whole."""

    def output(self) -> bytes:
        """Return the last of what the model printed."""

    def stop(self) -> None:
        """End all processes."""


class Restarts:
    """Counts how often a model that had died was started again."""

    def __init__(self, limit: int, name: str, survivor: str) -> None:
        """Take how often it may be, what messages call the model, and what they expect of it."""
        self._limit, self._name, self._survivor = limit, name, survivor
        self.count = 0

    def one_more(self) -> Problem | None:
        """Count one; return why there is none left."""
        if self.count >= self._limit:
            found, fix = f"a {self._name} that died or hung too often", "look at the first failure in the log"
            return Problem("restarts_used_up", "run", "the remaining clips", found, self._survivor, fix)
        self.count += 1
        return None
