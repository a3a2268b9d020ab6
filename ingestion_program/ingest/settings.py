"""The settings of one phase: these classes are the keys of `task.yaml`."""

import difflib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass

from ingest.errors import IngestionError, Problem
from ingest.schema import (
    CONFIG,
    Entries,
    MaybeEmpty,
    Mistake,
    Name,
    Rule,
    Section,
    Unquoted,
    WrongSettings,
    brief,
    read,
    wrong,
)
from model_process.sandbox import IsolationLevel, calls

MOST_EDITS = 3
"""With the original and five units, this makes nine altered calls per clip."""
_Chars = Annotated[StrictInt, Field(ge=1, le=10**6)]
_Pixels = Annotated[StrictInt, Field(ge=1, le=4096)]
_Cells = Annotated[StrictInt, Field(ge=1, le=256)]


@dataclass(frozen=True, config=CONFIG)
class Target(Section):
    """One number that a model predicts."""

    name: Name
    minimum: StrictFloat
    """Smallest valid value."""
    maximum: StrictFloat
    """Largest valid value."""

    def mistakes(self) -> Iterator[Rule]:
        """Check the range."""
        if self.minimum >= self.maximum:
            yield "", f"the range {self.minimum:g} to {self.maximum:g}", "minimum below maximum"


@dataclass(frozen=True, config=CONFIG)
class Limits(Section):
    """What a run may cost."""

    time_limit_s: Annotated[StrictFloat, Field(ge=1, le=10**7)]
    """The platform's limit for the whole job, seconds."""
    load_s: Annotated[StrictFloat, Field(ge=0.1, le=10**6)]
    """Importing model.py and constructing Model, seconds."""
    call_s: Annotated[StrictFloat, Field(ge=0.1, le=10**6)]
    """One call of predict or explain, seconds."""
    restarts: Annotated[StrictInt, Field(ge=0, le=10**9)]
    """How often a crashed or hung model process is started again."""
    memory_mb: Annotated[StrictInt, Field(ge=64, le=10**7)] = 4096
    """Private memory of the model process, MB (2**20 bytes)."""
    workers: Annotated[StrictInt, Field(ge=1, le=256)] | None = None
    """Model processes side by side at most; None for one a core. The machine may have room for fewer."""
    submission_mb: Annotated[StrictInt, Field(ge=1, le=10**6)] = 500
    """An unzipped submission, MB (2**20 bytes)."""
    submission_files: Annotated[StrictInt, Field(ge=1, le=10**6)] = 10_000
    """Files of a submission."""


def _addable(call: str) -> str:
    """Check that a system call exists, and that it does not weaken the sandbox."""
    if call in calls.addable():
        return call
    near = difflib.get_close_matches(call, () if call in calls.known() else calls.addable(), 1)
    expected = "no call that would open the sandbox" if call in calls.known() else "names of Linux system calls"
    raise wrong("".join((expected, *(f"; did you mean {name}?" for name in near))))


@dataclass(frozen=True, config=CONFIG)
class Isolation(Section):
    """How strictly the model process must be isolated."""

    require: IsolationLevel = "portable"
    """Lowest level; on a machine that offers less, no model is run."""
    at_most: IsolationLevel = "full"
    """Highest level that is used, even if the machine offers more."""
    also_allowed: MaybeEmpty[Annotated[Name, AfterValidator(_addable)]] = ()
    """System calls that models may make besides those of `model_process.sandbox.calls`."""


@dataclass(frozen=True, config=CONFIG)
class TextLimits(Section):
    """Length of a text."""

    minimum_chars: _Chars
    """Shortest text."""
    maximum_chars: _Chars
    """Longest text; the rest is cut."""


@dataclass(frozen=True, config=CONFIG)
class ImageSize(Section):
    """Size of a picture, pixels."""

    width: _Pixels
    height: _Pixels


@dataclass(frozen=True, config=CONFIG)
class Grid(Section):
    """Cells that spatial evidence is averaged onto."""

    rows: _Cells
    columns: _Cells


@dataclass(frozen=True, config=CONFIG)
class EvidenceFormat(Section):
    """What evidence may hold."""

    grid: Grid
    """Of maps."""
    cues: Entries[Name]
    """The vocabulary of cue claims."""


@dataclass(frozen=True, config=CONFIG)
class ExplanationFormat(Section):
    """What an explanation may hold."""

    text: TextLimits
    image: ImageSize
    evidence: EvidenceFormat


@dataclass(frozen=True, config=CONFIG)
class JitterRange(Section):
    """How far the jitter of a call may go."""

    gain: Annotated[StrictFloat, Field(ge=0, le=0.1)]
    """Brightness and loudness: a factor within 1 ± gain."""
    shift_px: Annotated[StrictInt, Field(ge=0, le=16)]
    """Largest shift in each direction, in pixels of the clip's own frames."""
    frames: Annotated[StrictInt, Field(ge=0, le=5)]
    """Largest shift in time, in frames."""


@dataclass(frozen=True, config=CONFIG)
class ProbeSettings(Section):
    """How altered copies are made."""

    edits: Annotated[StrictInt, Field(ge=0, le=MOST_EDITS)]
    """Most cue edits of a clip."""
    jitter: JitterRange
    """Jitter of every call of the second pass."""
    operators: Any = None
    """Of earlier versions; ignored."""


@dataclass(frozen=True, config=CONFIG)
class FeedbackSettings(Section):
    """What participants get back."""

    model_output: StrictBool
    """Whether they get what the model prints."""


@dataclass(frozen=True, config=CONFIG)
class Task(Section):
    """The settings of one phase."""

    format_version: Literal[1]
    """Version of the file's format."""
    name: Annotated[Name, Unquoted, Field(alias="task")]
    """The phase's name in logs and reports."""
    data_version: Annotated[Name, Unquoted]
    """Version of the data; scoring compares it with its own."""
    seed: Annotated[StrictInt, Field(ge=0, le=2**63 - 1)]
    """The only source of randomness."""
    clips_file: Annotated[Name, Field(alias="clips")]
    """Path of the clip list; all paths are relative to the input data."""
    transcripts_file: Annotated[Name, Field(alias="transcripts")]
    """Path of the transcripts."""
    targets: Entries[Target]
    """The targets, in the order of the output."""
    limits: Limits
    explanation: ExplanationFormat
    feedback: FeedbackSettings
    isolation: Isolation = Isolation()
    environment: Literal["cpu", "gpu"] = "cpu"
    """What models may count on: `gpu` is a promise that workers have one."""
    copies_file: Annotated[Name | None, Field(alias="copies")] = None
    """Path of the list of rendered copies; None if there are none."""
    exchanges_file: Annotated[Name | None, Field(alias="exchanges")] = None
    """Path of the list of exchanges; None if there are none."""
    faces_file: Annotated[Name | None, Field(alias="faces")] = None
    """Path of the list of face boxes; None if there are none."""
    probes: ProbeSettings | None = None
    """How altered copies are made; None if none are."""
    results: StrictBool = False
    """Whether results are accepted instead of code."""
    aliases_file: Annotated[Name | None, Field(alias="aliases")] = None
    """Path of the list of older names of clips, for results; None if results use ids."""
    target_aliases: dict[str, Name] = field(default_factory=dict)
    """Older names of targets, for results; the values are not converted."""

    def mistakes(self) -> Iterator[Rule]:
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
    except WrongSettings as error:
        raise IngestionError([_problem(path, mistake) for mistake in error.mistakes]) from None


def _problem(path: Path, mistake: Mistake) -> Problem:
    code = f"settings_{mistake.kind}"
    where = f"{path.name}, key {mistake.key}" if mistake.key else path.name
    fix = f"correct {mistake.key} in {path.name}" if mistake.key else f"correct {path.name}"
    return Problem(code, "settings", where, mistake.found, mistake.expected, fix)
