"""Stories about the honest model, scored against its own records; ``python -m tests.meaning.recorded`` packs some.

The second pass does not depend on explanations, so that of the honest run serves all submissions that predict as it
does. The tests have one archive a set: what scoring reads of the reference data, the honest run's records, and what
some others say. So any change of the scoring can be tried on all of them in seconds.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from score.axes.table import AxisSums, axis_values, clip_axes, not_applicable
from score.errors import Problem
from score.read.known import read_known
from score.read.outcomes import Outcomes, join
from score.read.records import (
    read_clips,
    read_explanations,
    read_predictions,
    read_probe_calls,
    read_repeats,
)
from score.read.reference import read_reference
from score.read.results import Results
from score.settings import Settings, read_settings
from tests import ROOT
from tests.meaning.cache import digest, once
from tests.meaning.entrants import ENTRANTS, Entrant, write_submission
from tests.meaning.runs import CACHE, ingested
from tests.meaning.sets import FILMED, SETS, ClipSet, clip_set
from tests.meaning.watched import write_watched

Array = NDArray[np.float64]
FOLDER = Path(__file__).with_name("recorded")
HONEST = "honest"
BY_KEY = {entrant.key: entrant for entrant in ENTRANTS}
KEYS = (
    *(HONEST, "noise_0.5", "noise_1", "noise_2", "random", "boilerplate", "other_clip"),
    *("usual", "fixed", "three_quarters", "reversed", "whole_person", "flat_wall", "flat_wall_fixed", "even_time"),
    "gradient",
)
"""Submissions whose explanations are kept."""
FILMED_KEYS = (HONEST, "noise_1", "random", "usual", "fixed", "reversed")
"""The same of clips that are played as if filmed."""
_RECORDS = ("clips.jsonl", "predictions.csv", "probes.jsonl", "repeats.jsonl")
_PATHS = [ROOT / folder for folder in ("ingestion_program", "scoring_program", "starting_kit")]
_TOLD = ".jsonl"
WATCHED, WATCHER = "watched.json", "watched.py"
_REFERENCE = ("task.yaml", "labels.csv", "causes.json")


@dataclass(frozen=True)
class Recorded:
    """One set of clips, and what was said about them."""

    settings: Settings
    outcomes: Outcomes
    """Of the honest submission."""
    explanations: dict[str, Any]
    """By key of a submission: its explanations, in the order of the outcomes."""

    def told_by(self, key: str) -> Outcomes:
        """Return the outcomes with the explanations of another submission; none is repeated."""
        return replace(self.outcomes, explanations=self.explanations[key], repeats=(None,) * len(self.outcomes.repeats))

    def table(self, outcomes: Outcomes) -> AxisSums:
        """Return the addends of every axis, clip by clip."""
        constant = np.array([target.constant for target in self.settings.targets])
        return clip_axes(outcomes, self.settings, outcomes.truth, outcomes.prediction, constant).table

    def values(self, table: AxisSums, weights: Array | None = None) -> dict[str, Array]:
        """Return every axis and the total, over all clips or for each row of weights of the clips."""
        everything = np.ones((1, len(table.clips)))
        left_out = not_applicable(table, causes=self.outcomes.known.causes is not None)
        return axis_values(table.weighted(everything if weights is None else weights), self.settings, left_out)


def read(name: str, folder: Path) -> Recorded:
    """Unpack a set into a folder, and load it."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return load({path.name: path for path in folder.iterdir()})


def load(files: Mapping[str, Path]) -> Recorded:
    """Read a set with the scoring program's own readers; `files`: those of ``gathered``."""
    folder = files["task.yaml"].parent
    settings, problems = read_settings(folder / "task.yaml"), list[Problem]()
    reference = read_reference(folder / "labels.csv", settings)
    known = read_known(folder, replace(settings, groups=None), reference)

    def given(name: str) -> bytes:
        return files[name].read_bytes()

    said = {
        name.removesuffix(_TOLD): read_explanations(given(name), settings, frozenset(), problems)
        for name in files
        if name.endswith(_TOLD) and name not in _RECORDS
    }
    results = Results(
        folder=cast(Any, None),
        run=cast(Any, SimpleNamespace(untested=dict.fromkeys(("exchanges", "edits"), frozenset()))),
        clips=read_clips(given("clips.jsonl"), settings, problems),
        predictions=read_predictions(given("predictions.csv"), settings, problems),
        explanations=said[HONEST],
        probes=read_probe_calls(given("probes.jsonl"), settings, said[HONEST], problems),
        repeats=read_repeats(given("repeats.jsonl"), settings, problems),
        warnings=(),
    )
    if problems:
        raise ValueError(f"{folder}: {problems[0].line()}")
    outcomes = join(results, reference, settings, known)
    return Recorded(settings, outcomes, {key: tuple(of[one] for one in outcomes.clip_ids) for key, of in said.items()})


def gathered(clips: ClipSet, keys: Iterable[str], cache: Path) -> dict[str, Path]:
    """Return the files of a set by name: reference data, the honest run's records, and what some submissions say."""
    honest = ingested(BY_KEY[HONEST], clips, cache)
    said = {f"{key}{_TOLD}": told(BY_KEY[key], clips, cache) for key in keys}
    known = [file for file in _REFERENCE if (clips.reference_data / file).is_file()]
    files = {file: clips.reference_data / file for file in known} | {file: honest / file for file in _RECORDS} | said
    return files | ({WATCHED: watched(clips, cache)} if clips.name == FILMED else {})


def watched(clips: ClipSet, cache: Path, workers: int = 2) -> Path:
    """Return the file with what can be seen of each call on a set that is played as if filmed."""

    def watch(folder: Path) -> None:
        write_watched(clips.input_data, folder / WATCHED, workers)

    program = ROOT / "ingestion_program" / "ingest" / "media"
    return (
        once(cache / "watched" / digest(clips.input_data, program, Path(__file__).with_name(WATCHER)), watch) / WATCHED
    )


def told(entrant: Entrant, clips: ClipSet, cache: Path) -> Path:
    """Return the file with a submission's explanations of the plain clips of a set."""
    with tempfile.TemporaryDirectory() as temporary:
        submission = write_submission(entrant, Path(temporary) / "submission")

        def ask(folder: Path) -> None:
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, _PATHS)), "OMP_NUM_THREADS": "1"}
            words = [str(submission), str(clips.input_data), str(folder / "told.jsonl")]
            subprocess.run([sys.executable, "-m", "tests.meaning.ask", *words], env=environment, cwd=ROOT, check=True)

        return once(cache / "told" / digest(submission, clips.input_data), ask) / "told.jsonl"


def pack(name: str, cache: Path, folder: Path) -> None:
    """Write the archive of one set."""
    with tarfile.open(folder / f"{name}.tar.xz", "w:xz") as archive:
        for file, path in sorted(
            gathered(clip_set(name, cache, 2), FILMED_KEYS if name == FILMED else KEYS, cache).items()
        ):
            content = path.read_bytes()
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in sys.argv[1:] or (*SETS, FILMED):
        pack(each, CACHE, FOLDER)
