"""A phase of a bundle as its pages see it: settings, tables and programs, opened on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, NoReturn

from jinja2 import UndefinedError

from bundle_tools.challenge.reading.answers import is_public
from bundle_tools.challenge.reading.program_settings import ScoringSettings, scoring_settings
from bundle_tools.challenge.reading.tables import SETTINGS, read_clips, read_settings
from bundle_tools.challenge.reading.video import UnreadableVideo, Video, describe
from bundle_tools.challenge.rules.phases import FIRST_CALLS, altered_calls
from bundle_tools.codabench.competition import slug_of
from bundle_tools.codabench.keys import PhaseKeys, TaskKeys
from bundle_tools.codabench.rules.dataset import DataFiles, find
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.phases import moment
from bundle_tools.programs import use_own_program

ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError, UnreadableVideo)
"""What settings and files that `bundle check` rejects may raise."""


class FigureError(UndefinedError):
    """A name without a figure; the message says why."""


@dataclass(frozen=True)
class PagePhase:
    """One phase, opened on demand. Missing parts raise FigureError; malformed ones may raise any of `ODD`."""

    name: str
    """As on the command line, e.g. "practice"."""
    draft: ParsedBundle
    entry: PhaseKeys
    task: TaskKeys
    answer: ScoringSettings | None
    """The scoring program's answer about its registry; None if it was not asked."""

    def setting(self, *keys: str) -> Any:  # noqa: ANN401 - whatever the file holds
        """Return a setting of the input data."""
        return self._inside(self.input_settings, "input_data", keys)

    def scoring(self, *keys: str) -> Any:  # noqa: ANN401 - as above
        """Return a setting of the reference data, as the scoring program reads it."""
        return self._inside(self.scored.settings, "reference_data", keys)

    def date(self, key: str) -> str:
        """Return a date of the phase, UTC."""
        date, _ = moment(self.draft, (*self.entry.key_path, key), getattr(self.entry, key))
        return f"{date:%Y-%m-%d %H:%M}" if date else self.missing(f"has no {key}")

    def data(self, key: str) -> DataFiles:
        """Open a part of its task."""
        return find(self.draft, getattr(self.task, key)) or self.missing(f"has no {key.replace('_', ' ')}")

    def missing(self, what: str) -> NoReturn:
        """Raise FigureError about a part that is not there."""
        raise FigureError(f"{self.name} {what}.")

    @property
    def scored(self) -> ScoringSettings:
        """The registry of score columns, and the settings and constants of the scoring program."""
        answer = self.answer or self.missing("has no scoring program with a registry of columns")
        return self.missing(f"cannot be scored: {answer.problem.rstrip('.')}") if answer.problem else answer

    @cached_property
    def input_settings(self) -> dict[str, Any]:
        """All of `task.yaml` of the input data."""
        return read_settings(self.data("input_data")) or self.missing("has no task.yaml in its input data")

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the axes that apply, as the total uses them: their sum is 1."""
        weights: dict[str, float] = self.scored.constants.get("weights") or self.missing("has other axes")
        return weights

    @cached_property
    def clips(self) -> list[tuple[str, str, str]]:
        """Id, file and SHA-256 of every clip."""
        return read_clips(self.data("input_data")) or self.missing("has no list of clips")

    @cached_property
    def video(self) -> Video:
        """The header of the first clip."""
        return describe(self.data("input_data").read(self.clips[0][1]))

    @property
    def is_open(self) -> bool:
        """Whether its labels are public."""
        return is_public(self.data("reference_data"))

    @property
    def calls(self) -> int:
        """The most calls for one clip and its perturbed copies."""
        return FIRST_CALLS + altered_calls(self.setting("probes", "edits"))

    @property
    def working_time_s(self) -> float:
        """The time after which nothing further is started, seconds."""
        clock = ingestion("clock", "Clock")()
        clock.set_limit(self.setting("limits", "time_limit_s"))
        return float(clock.budget_s)

    def reached(self, axes: Mapping[str, float]) -> int:
        """Return the points that some axes alone bring, if all else is perfect."""
        power = self.scoring("explanation_score", "power")
        mean = sum(self.weights.get(axis, 0) * value**power for axis, value in axes.items())
        return round(float(100 * mean ** (1 / power)))

    def applies(self, key: str) -> bool:
        """Return whether a column can hold anything but 0; the jury's waits for its votes."""
        files = [column["file"] for column in self.scored.columns if column["key"] == key]
        return all(file in {"", "jury", None} or self.scoring(file) is not None for file in files)

    def _inside(self, settings: dict[str, Any], side: str, keys: Sequence[str]) -> Any:  # noqa: ANN401 - as above
        value: Any = settings
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                self.missing(f"has no {'.'.join(keys)} in {PurePosixPath(str(getattr(self.task, side))) / SETTINGS}")
            value = value[key]
        return value


def phases_of(bundle: ParsedBundle) -> list[PagePhase]:
    """Return the phases of a bundle that have a task, in their order."""
    answers = scoring_settings(bundle)
    tasks = {str(task.index): task for task in bundle.keys.tasks}
    return [
        PagePhase(slug_of(str(phase.name)), bundle, phase, task, answers.get(task.key_path))
        for phase in bundle.keys.phases
        if (task := tasks.get(str(next(iter(phase.tasks), ""))))
    ]


def ingestion(module: str, name: str) -> Any:  # noqa: ANN401 - a number or a class
    """Return an attribute of a module of the ingestion program."""
    use_own_program("ingestion_program")
    return getattr(import_module(f"ingest.{module}"), name)
