"""The settings of one phase: these classes are the keys of `task.yaml`."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from ingest.errors import IngestionError, Problem
from ingest.schema import Between, Found, Key, Length, Mistake, OrNumber, WrongSettings, brief, read
from model_process.sandbox import IsolationLevel, calls

Operator = Literal["imputation", "blur", "median", "moment"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
MOST_EDITS = 3
"""With the original and five units, this makes nine altered calls per clip."""
_Chars = Annotated[int, Between(1, 10**6)]
_Pixels = Annotated[int, Between(1, 4096)]
_Cells = Annotated[int, Between(1, 256)]


@dataclass(frozen=True)
class Target:
    """One number that a model predicts."""

    name: str
    minimum: float
    """Smallest valid value."""
    maximum: float
    """Largest valid value."""

    def mistakes(self) -> Iterator[Found]:
        """Check the range."""
        if self.minimum >= self.maximum:
            yield "", f"the range {self.minimum:g} to {self.maximum:g}", "minimum below maximum"


@dataclass(frozen=True)
class Limits:
    """What a run may cost."""

    time_limit_s: Annotated[float, Between(1, 10**7)]
    """The platform's limit for the whole job, seconds."""
    load_s: Annotated[float, Between(0.1, 10**6)]
    """Importing model.py and constructing Model, seconds."""
    call_s: Annotated[float, Between(0.1, 10**6)]
    """One call of predict or explain, seconds."""
    restarts: Annotated[int, Between(0, 1000)]
    """How often a crashed or hung model process is started again."""
    memory_mb: Annotated[int, Between(64, 10**7)] = 4096
    """Private memory of the model process, MB (2**20 bytes)."""
    workers: Annotated[int | None, Between(1, 256)] = None
    """Model processes side by side at most; None for one a core. The machine may have room for fewer."""
    submission_mb: Annotated[int, Between(1, 10**6)] = 500
    """An unzipped submission, MB (2**20 bytes)."""
    submission_files: Annotated[int, Between(1, 10**6)] = 10_000
    """Files of a submission."""


@dataclass(frozen=True)
class Isolation:
    """How strictly the model process must be isolated."""

    require: IsolationLevel = "portable"
    """Lowest level; on a machine that offers less, no model is run."""
    at_most: IsolationLevel = "full"
    """Highest level that is used, even if the machine offers more."""
    also_allowed: Annotated[tuple[str, ...], Length(100, 0)] = ()
    """System calls that models may make besides those of `model_process.sandbox.calls`."""

    def mistakes(self) -> Iterator[Found]:
        """Check that the calls exist, and that none of them weakens the sandbox."""
        known, addable = calls.known(), calls.addable()
        for name in self.also_allowed:
            if name not in known:
                near = difflib.get_close_matches(name, addable, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                yield "also_allowed", brief(name), f"names of Linux system calls{hint}"
            elif name not in addable:
                yield "also_allowed", brief(name), "no call that would open the sandbox"


@dataclass(frozen=True)
class TextLimits:
    """Length of a text."""

    minimum_chars: _Chars
    """Shortest text."""
    maximum_chars: _Chars
    """Longest text; the rest is cut."""


@dataclass(frozen=True)
class ImageSize:
    """Size of a picture, pixels."""

    width: _Pixels
    height: _Pixels


@dataclass(frozen=True)
class Grid:
    """Cells that spatial evidence is averaged onto."""

    rows: _Cells
    columns: _Cells


@dataclass(frozen=True)
class EvidenceFormat:
    """What evidence may hold."""

    grid: Grid
    """Of maps."""
    cues: tuple[str, ...]
    """The vocabulary of cue claims."""


@dataclass(frozen=True)
class ExplanationFormat:
    """What an explanation may hold."""

    text: TextLimits
    image: ImageSize
    evidence: EvidenceFormat


@dataclass(frozen=True)
class JitterRange:
    """How far the jitter of a call may go."""

    gain: Annotated[float, Between(0, 0.1)]
    """Brightness and loudness: a factor within 1 ± gain."""
    shift_px: Annotated[int, Between(0, 16)]
    """Largest shift in each direction, in pixels of the clip's own frames."""
    frames: Annotated[int, Between(0, 5)]
    """Largest shift in time, in frames."""


@dataclass(frozen=True)
class ProbeSettings:
    """How altered copies are made."""

    operators: tuple[Operator, ...]
    """Operators that hide a place; one is drawn for each clip."""
    edits: Annotated[int, Between(0, MOST_EDITS)]
    """Most cue edits of a clip."""
    jitter: JitterRange
    """Jitter of every call of the second pass."""

    def __post_init__(self) -> None:
        # Sorted, so that draws do not depend on their order in the file.
        object.__setattr__(self, "operators", tuple(sorted(self.operators, key=OPERATORS.index)))


@dataclass(frozen=True)
class FeedbackSettings:
    """What participants get back."""

    model_output: bool
    """Whether they get what the model prints."""


@dataclass(frozen=True)
class Task:
    """The settings of one phase."""

    format_version: Literal[1]
    """Version of the file's format."""
    name: Annotated[str, Key("task"), OrNumber()]
    """The phase's name in logs and reports."""
    data_version: Annotated[str, OrNumber()]
    """Version of the data; scoring compares it with its own."""
    seed: Annotated[int, Between(0, 2**63 - 1)]
    """The only source of randomness."""
    clips_file: Annotated[str, Key("clips")]
    """Path of the clip list; all paths are relative to the input data."""
    transcripts_file: Annotated[str, Key("transcripts")]
    """Path of the transcripts."""
    targets: tuple[Target, ...]
    """The targets, in the order of the output."""
    limits: Limits
    explanation: ExplanationFormat
    feedback: FeedbackSettings
    isolation: Isolation = Isolation()
    environment: Literal["cpu", "gpu"] = "cpu"
    """What models may count on: `gpu` is a promise that workers have one."""
    copies_file: Annotated[str | None, Key("copies")] = None
    """Path of the list of rendered copies; None if there are none."""
    exchanges_file: Annotated[str | None, Key("exchanges")] = None
    """Path of the list of exchanges; None if there are none."""
    faces_file: Annotated[str | None, Key("faces")] = None
    """Path of the list of face boxes; None if there are none."""
    probes: ProbeSettings | None = None
    """How altered copies are made; None if none are."""
    results: bool = False
    """Whether results are accepted instead of code."""
    aliases_file: Annotated[str | None, Key("aliases")] = None
    """Path of the list of older names of clips, for results; None if results use ids."""
    target_aliases: dict[str, str] = field(default_factory=dict)
    """Older names of targets, for results; the values are not converted."""

    def mistakes(self) -> Iterator[Found]:
        """Check the names of targets."""
        names = {target.name for target in self.targets}
        if len(names) < len(self.targets):
            yield "targets", "a duplicate name", "each target once"
        if not set(self.target_aliases.values()) <= names or names & self.target_aliases.keys():
            yield "target_aliases", brief(self.target_aliases), "{older name: one of the targets}"
        if len(set(self.target_aliases.values())) < len(self.target_aliases):
            yield "target_aliases", "a target with two older names", "one for each target"


def read_task(path: Path) -> Task:
    """Read and check the settings.

    Raises IngestionError with every problem of the file; the fault is the organiser's.
    """
    try:
        return read(Task, path)
    except WrongSettings as wrong:
        raise IngestionError([_problem(path, mistake) for mistake in wrong.mistakes]) from None


def _problem(path: Path, mistake: Mistake) -> Problem:
    code = f"settings_{mistake.kind}"
    where = f"{path.name}, key {mistake.key}" if mistake.key else path.name
    fix = f"correct {mistake.key} in {path.name}" if mistake.key else f"correct {path.name}"
    return Problem(code, "settings", where, mistake.found, mistake.expected, fix, fault="organiser")
