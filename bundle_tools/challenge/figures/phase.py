"""A phase of a bundle as the figures on pages see it: settings, tables and programs, opened on demand."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NoReturn

from bundle_tools.challenge.figures.marks import FigureError
from bundle_tools.challenge.reading.answers import is_public
from bundle_tools.challenge.reading.program_settings import ScoringSettings, scoring_settings
from bundle_tools.challenge.reading.tables import SETTINGS, read_clips, read_settings, read_table
from bundle_tools.challenge.reading.video import Video, describe
from bundle_tools.codabench.competition import slug_of
from bundle_tools.codabench.keys import PhaseKeys, TaskKeys
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.settings.dates import moment

LOCK = "requirements.lock"
LOCKED = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
"""A package in a lock, and its version."""


@dataclass(frozen=True)
class Phase:
    """One phase. Missing parts raise FigureError; malformed ones may raise anything."""

    name: str
    """As on the command line, e.g. "practice"."""
    draft: Draft
    entry: PhaseKeys
    """The phase in `competition.yaml`."""
    task: TaskKeys
    """Its first task in `competition.yaml`."""
    answer: ScoringSettings | None
    """The scoring program's answer about its registry; None if it was not asked."""

    def setting(self, *keys: str) -> Any:  # noqa: ANN401 - whatever the file holds
        """Return a setting of the input data."""
        return self._inside(self.input_settings, "input_data", keys)

    def scoring(self, *keys: str) -> Any:  # noqa: ANN401 - as above
        """Return a setting of the reference data, as the scoring program reads it."""
        return self._inside(self._told.settings, "reference_data", keys)

    def constant(self, name: str) -> Any:  # noqa: ANN401 - as above
        """Return a constant of the scoring program."""
        return self._told.constants[name]

    def date(self, key: str) -> datetime:
        """Return a date of the phase, UTC."""
        found, _ = moment(self.draft, (*self.entry.place, key), getattr(self.entry, key))
        return found or self._missing(f"has no {key}")

    @property
    def columns(self) -> Sequence[dict[str, Any]]:
        """The registry of score columns."""
        return self._told.columns

    @cached_property
    def input_settings(self) -> dict[str, Any]:
        """All of `task.yaml` of the input data."""
        return read_settings(self._given) or self._missing("has no task.yaml in its input data")

    @cached_property
    def weights(self) -> dict[str, float]:
        """Weights of the axes that apply, as the total uses them: their sum is 1."""
        weights = dict(self.scoring("explanation_score", "weights"))
        if self.scoring("causes") is None:
            del weights["known_causes"]
        whole = sum(weights.values())
        return {axis: weight / whole for axis, weight in weights.items()} if whole else weights

    @cached_property
    def clips(self) -> list[tuple[str, str, str]]:
        """Id, file and SHA-256 of every clip."""
        return read_clips(self._given) or self._missing("has no list of clips")

    @property
    def copies(self) -> list[int]:
        """The distinct numbers of copies per clip."""
        rows = read_table(self._given.text(self.setting("copies")))[1:]
        counts = Counter(row[1] for row in rows if len(row) == 5)
        return sorted({counts[clip] for clip, *_ in self.clips})

    @cached_property
    def video(self) -> Video:
        """The header of the first clip."""
        return describe(self._given.read(self.clips[0][1]))

    @property
    def packages(self) -> list[tuple[str, str]]:
        """Packages in the ingestion program's image: names in lower case, and exact versions."""
        program = find(self.draft, self.task.ingestion_program)
        if program is None or LOCK not in program.names():
            self._missing(f"has no {LOCK} in its ingestion program")
        return sorted((name.lower(), version) for name, version in LOCKED.findall(program.text(LOCK)))

    @property
    def landmarks(self) -> dict[str, Any] | None:
        """Scores of baselines; None if they were not computed."""
        name = (read_settings(self._wanted) or {}).get("landmarks")
        return json.loads(self._wanted.text(name)) if name in self._wanted.names() else None

    @property
    def is_open(self) -> bool:
        """Whether its labels are public."""
        return is_public(self._wanted)

    @property
    def _given(self) -> Dataset:
        return find(self.draft, self.task.input_data) or self._missing("has no input data")

    @property
    def _wanted(self) -> Dataset:
        return find(self.draft, self.task.reference_data) or self._missing("has no reference data")

    @property
    def _told(self) -> ScoringSettings:
        answer = self.answer or self._missing("has no scoring program with a registry of columns")
        return self._missing(f"cannot be scored: {answer.problem.rstrip('.')}") if answer.problem else answer

    def _inside(self, settings: dict[str, Any], side: str, keys: Sequence[str]) -> Any:  # noqa: ANN401 - as above
        found: Any = settings
        for key in keys:
            if not isinstance(found, dict) or key not in found:
                self._missing(f"has no {'.'.join(keys)} in {PurePosixPath(str(getattr(self.task, side))) / SETTINGS}")
            found = found[key]
        return found

    def _missing(self, what: str) -> NoReturn:
        raise FigureError(f"{self.name} {what}.")


def phases_of(draft: Draft) -> list[Phase]:
    """Return the phases of a bundle that have a task, in their order."""
    answers = scoring_settings(draft)
    tasks = {str(task.index): task for task in draft.keys.tasks}
    found = []
    for phase in draft.keys.phases:
        if task := tasks.get(str(next(iter(phase.tasks), ""))):
            found.append(Phase(slug_of(str(phase.name)), draft, phase, task, answers.get(task.place)))
    return found
