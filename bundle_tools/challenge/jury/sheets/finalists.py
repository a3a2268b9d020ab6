"""The runs that the jury compares, with their answers on each clip."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.challenge.compare.field import score_field
from bundle_tools.challenge.compare.judgement import judge
from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.scoring_program import scoring_input, unpacked, use_scoring_program
from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError
from score.pipeline import prepare
from score.read.outcomes import Outcomes
from score.settings import Settings

RESAMPLES = 1000


@dataclass(frozen=True)
class Finalist:
    """One run, ready to be shown."""

    name: str
    total: float
    """Measured explanation score, 0 to 100."""
    band: int
    """Among the finalists, 1 for the best."""
    rated_sha256: str
    """SHA-256 of its explanations and their submission, by which scoring finds the rating."""
    folder: Path
    """Results of ingestion, where the pictures are."""
    outcomes: Outcomes


@dataclass(frozen=True)
class Final:
    """The input of a jury."""

    settings: Settings
    finalists: tuple[Finalist, ...]
    """In the order given."""
    clips: dict[str, Path]
    """Video file by clip id."""

    @property
    def clip_ids(self) -> tuple[str, ...]:
        """Clips of the reference, ascending."""
        return self.finalists[0].outcomes.clip_ids

    @property
    def main(self) -> int:
        """Index of the main target."""
        return self.settings.names.index(self.settings.main_target)


def gather(phase: Phase, runs: Sequence[Run], scratch: Path) -> Final:
    """Read, check and score the finalists' results.

    `runs`: at least two, of this phase. Raises BundleError if the phase lacks something, if there are fewer than two
    runs, or with every run that cannot be judged.
    """
    if len(runs) < 2:
        raise BundleError("Expected at least two runs to compare, found one.")
    rows = {row.name: row for row in judge(score_field(phase, runs, RESAMPLES, scratch))}
    reference = use_scoring_program(phase, scratch)
    prepared = [
        prepare(scoring_input(scratch / f"jury-{number}", reference, run.folder)) for number, run in enumerate(runs)
    ]
    said = [one.results.folder.hashes["explanations.jsonl"] for one in prepared]
    same = [run.name for run, digest in zip(runs, said, strict=True) if said.count(digest) > 1]
    if same:
        raise BundleError(f"{', '.join(same)}: the same explanations. Keep only one of them.")
    finalists = tuple(
        Finalist(run.name, rows[run.name].total, rows[run.name].band, one.results.rated_as, run.folder, one.outcomes)
        for run, one in zip(runs, prepared, strict=True)
    )
    folder = unpacked(phase.task.input_data, scratch / "input")
    if folder is None:
        raise BundleError("The phase has no input data.")
    return Final(prepared[0].settings, finalists, _clips(folder))


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
