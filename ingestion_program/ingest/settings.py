"""The task's settings: targets, limits, what an explanation may hold. Read from `task.yaml`, checked in one pass."""

from dataclasses import dataclass
from pathlib import Path

from ingest.probes.settings import ProbeSettings, read_probes
from ingest.results.settings import ResultsSettings, read_results
from ingest.settings_reader import SettingsReader, brief
from model_process.sandbox import Tier

DEFAULT_MEMORY_MB = 4096
LARGEST = 1e9
"""No limit of a target is larger."""
TARGET = ("name", "minimum", "maximum")
"""Keys of a target."""
DEFAULT_SUBMISSION_MB = 500
DEFAULT_SUBMISSION_FILES = 10_000


@dataclass(frozen=True)
class Target:
    """One number that a model predicts."""

    name: str
    """Key in predictions."""
    minimum: float
    """Smallest valid value."""
    maximum: float
    """Largest valid value."""


@dataclass(frozen=True)
class Limits:
    """What a run may cost."""

    time_limit_s: float
    """The platform's limit for the whole job, seconds."""
    load_s: float
    """Importing model.py and constructing Model, seconds."""
    call_s: float
    """One call of predict or explain, seconds."""
    restarts: int
    """How often a crashed or hung model process is started again."""
    memory_mb: int = DEFAULT_MEMORY_MB
    """Private memory of the model process, MB (2**20 bytes)."""
    submission_mb: int = DEFAULT_SUBMISSION_MB
    """An unzipped submission, MB (2**20 bytes)."""
    submission_files: int = DEFAULT_SUBMISSION_FILES
    """Files of a submission."""


@dataclass(frozen=True)
class Isolation:
    """How firmly the model process has to be held in."""

    require: Tier = "portable"
    """Where the machine gives less, no model is run."""
    at_most: Tier = "full"
    """Where the machine gives more, it is not used."""
    also_allowed: tuple[str, ...] = ()
    """System calls that models may make besides those of `model_process.sandbox.calls`."""


@dataclass(frozen=True)
class ExplanationFormat:
    """What an explanation may hold."""

    minimum_chars: int
    """Shortest text."""
    maximum_chars: int
    """Longest text; the rest is cut."""
    image_width: int
    """Pixels."""
    image_height: int
    """Pixels."""
    grid_rows: int
    """Rows of the grid that spatial evidence is averaged onto."""
    grid_columns: int
    """Columns of that grid."""
    cues: tuple[str, ...]
    """The vocabulary of cue claims."""


@dataclass(frozen=True)
class Task:
    """The settings of one phase."""

    name: str
    """The phase's name in logs and reports."""
    data_version: str
    """Names the data set; scoring compares it with its own."""
    seed: int
    """The only source of randomness."""
    clips_file: str
    """Path of the clip list, relative to the input data."""
    transcripts_file: str
    """Path of the transcripts, relative to the input data."""
    targets: tuple[Target, ...]
    """In the order in which they are written."""
    limits: Limits
    """What a run may cost."""
    explanation: ExplanationFormat
    """What an explanation may hold."""
    show_model_output: bool
    """Whether what the model prints is handed back."""
    isolation: Isolation
    """How firmly the model is held in."""
    copies_file: str | None = None
    """Path of the list of rendered copies, relative to the input data; None where there are none."""
    exchanges_file: str | None = None
    """Path of the list of exchanges, relative to the input data; None where there are none."""
    faces_file: str | None = None
    """Path of the list of face boxes, relative to the input data; None where there is none."""
    probes: ProbeSettings | None = None
    """How altered clips are made; None where none is."""
    results: ResultsSettings | None = None
    """How results instead of code are read; None where code is required."""


def read_task(path: Path) -> Task:
    """Read and check the settings.

    Raises
    ------
    IngestionError
        With every problem of the file; the fault is the organiser's.
    """
    reader = SettingsReader(path)
    targets = _targets(reader)
    task = Task(
        name=reader.text("task"),
        data_version=reader.text("data_version"),
        seed=reader.integer("seed", 0, 2**63 - 1),
        clips_file=reader.text("clips"),
        transcripts_file=reader.text("transcripts"),
        targets=targets,
        limits=Limits(
            time_limit_s=reader.number("limits.time_limit_s", 1, 10**7),
            load_s=reader.number("limits.load_s", 0.1, 10**6),
            call_s=reader.number("limits.call_s", 0.1, 10**6),
            restarts=reader.integer("limits.restarts", 0, 1000),
            memory_mb=reader.integer("limits.memory_mb", 64, 10**7, default=DEFAULT_MEMORY_MB),
            submission_mb=reader.integer("limits.submission_mb", 1, 10**6, default=DEFAULT_SUBMISSION_MB),
            submission_files=reader.integer("limits.submission_files", 1, 10**6, default=DEFAULT_SUBMISSION_FILES),
        ),
        explanation=ExplanationFormat(
            minimum_chars=reader.integer("explanation.text.minimum_chars", 1, 10**6),
            maximum_chars=reader.integer("explanation.text.maximum_chars", 1, 10**6),
            image_width=reader.integer("explanation.image.width", 1, 4096),
            image_height=reader.integer("explanation.image.height", 1, 4096),
            grid_rows=reader.integer("explanation.evidence.grid.rows", 1, 256),
            grid_columns=reader.integer("explanation.evidence.grid.columns", 1, 256),
            cues=reader.names("explanation.evidence.cues"),
        ),
        show_model_output=reader.switch("feedback.model_output"),
        isolation=Isolation(
            require=reader.tier("isolation.require", "portable"),
            at_most=reader.tier("isolation.at_most", "full"),
            also_allowed=reader.system_calls("isolation.also_allowed"),
        ),
        copies_file=reader.text("copies") if reader.has("copies") else None,
        exchanges_file=reader.text("exchanges") if reader.has("exchanges") else None,
        faces_file=reader.text("faces") if reader.has("faces") else None,
        probes=read_probes(reader) if reader.has("probes") else None,
        results=read_results(reader, tuple(target.name for target in targets)),
    )
    reader.finish()
    return task


def _targets(reader: SettingsReader) -> tuple[Target, ...]:
    value = reader.find("targets")
    if not isinstance(value, list) or not value:
        reader.problem("settings_value", "targets", brief(value), "a list of {name, minimum, maximum}")
        return ()
    targets = []
    for position, item in enumerate(value):
        key = f"targets[{position}]"
        for name in item if isinstance(item, dict) else ():
            if name not in TARGET:
                reader.unknown(f"{key}.{name}"[:100], [f"{key}.{one}" for one in TARGET])
        name, minimum, maximum = (
            (item.get("name"), item.get("minimum"), item.get("maximum")) if isinstance(item, dict) else (None,) * 3
        )
        numbers = [n for n in (minimum, maximum) if isinstance(n, int | float) and not isinstance(n, bool)]
        if not (isinstance(name, str) and name and len(numbers) == 2 and -LARGEST < numbers[0] < numbers[1] < LARGEST):
            reader.problem("settings_value", key, brief(item), "{name: …, minimum: …, maximum: …}")
            continue
        targets.append(Target(name, float(numbers[0]), float(numbers[1])))
    if len({target.name for target in targets}) < len(targets):
        reader.problem("settings_value", "targets", "a name twice", "each target once")
    return tuple(targets)
