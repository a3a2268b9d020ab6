"""The runs that the jury compares, and what they said of each clip."""

import csv
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.field import score_field
from bundle_tools.challenge.compare.judgement import judge
from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.scoring_program import scoring_input
from bundle_tools.codabench.archive import extract
from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError

if TYPE_CHECKING:
    from score.read.outcomes import Outcomes
    from score.settings import Settings

Array = NDArray[np.float64]
RESAMPLES = 1000


@dataclass(frozen=True)
class Finalist:
    """One run, ready to be shown."""

    name: str
    """The run's name."""
    total: float
    """Measured explanation score, 0 to 100."""
    band: int
    """Among the finalists, 1 for the best."""
    rated_sha256: str
    """Of its explanations and the submission that gave them; scoring finds the rating by it."""
    folder: Path
    """Results of ingestion, where the pictures are."""
    outcomes: "Outcomes"
    """What it predicted and said, clip by clip."""


@dataclass(frozen=True)
class Final:
    """All that a jury is made from."""

    settings: "Settings"
    """Of the phase's scoring."""
    finalists: tuple[Finalist, ...]
    """In the order given."""
    clips: dict[str, Path]
    """Video file by clip id."""

    @property
    def clip_ids(self) -> tuple[str, ...]:
        """Clips of the reference, ascending."""
        return self.finalists[0].outcomes.clip_ids


def gather(phase: Phase, runs: Sequence[Run], scratch: Path) -> Final:
    """Read, check and score the finalists' results.

    Parameters
    ----------
    phase
        Whose programs and data are used.
    runs
        At least two, of this phase.
    scratch
        A folder for temporary files.

    Raises
    ------
    BundleError
        If the phase lacks something, if there are fewer than two runs, or with every run that cannot be judged.
    """
    if len(runs) < 2:
        raise BundleError("A jury compares: expected at least two runs, found one.")
    rows = {
        row.name: row for row in judge(score_field(phase, runs, RESAMPLES, scratch))
    }  # also makes `score` importable
    from score.pipeline import prepare  # noqa: PLC0415 - the program's path is known only now

    reference = _folder(phase.task.reference_data, scratch / "reference")
    finalists, explained, settings = [], [], None
    for number, run in enumerate(runs):
        source = scoring_input(scratch / f"jury-{number}", reference, run.folder)
        prepared = prepare(source)
        settings = prepared.settings
        explained.append(prepared.results.folder.hashes["explanations.jsonl"])
        row = rows[run.name]
        finalists.append(
            Finalist(run.name, row.total, row.band, prepared.results.rated_as, run.folder, prepared.outcomes)
        )
    same = [one.name for one, digest in zip(finalists, explained, strict=True) if explained.count(digest) > 1]
    if same:
        raise BundleError(f"{', '.join(same)}: the same explanations. Leave all but one of them out.")
    assert settings is not None  # noqa: S101 - there are runs
    return Final(settings, tuple(finalists), _clips(_folder(phase.task.input_data, scratch / "input")))


def _folder(path: Path | None, scratch: Path) -> Path:
    if path is None:
        raise BundleError("The phase has no input data or no reference data.")
    if path.is_dir():
        return path
    shutil.rmtree(scratch, ignore_errors=True)
    extract(path, scratch)
    return scratch


def _clips(folder: Path) -> dict[str, Path]:
    """Find the video of every clip."""
    path = folder / "clips.csv"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            found = {row["clip_id"]: folder / row["file"] for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        raise BundleError(f"{path}: cannot be used ({type(error).__name__}). Run `bundle check`.") from error
    missing = sorted(clip_id for clip_id, video in found.items() if not video.is_file())
    if missing:
        raise BundleError(f"{folder}: no video of {', '.join(missing[:10])}. Run `bundle check`.")
    return found
