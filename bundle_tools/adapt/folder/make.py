"""The bundle, or the data alone, that are made of an organiser's own clips."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bundle_tools.adapt.bundle.whole import Described, add_bundle
from bundle_tools.adapt.dataset import Part
from bundle_tools.adapt.folder.challenge import Challenge
from bundle_tools.adapt.folder.reader import Found
from bundle_tools.adapt.media import Treatment
from bundle_tools.adapt.settings import Rules
from bundle_tools.adapt.split import split_by_source
from bundle_tools.adapt.stage import Stage
from bundle_tools.adapt.writer import Written, write
from bundle_tools.console import Progress

LARGEST_PHASE = 60
"""Clips of a phase unless asked for otherwise: on the default queue, more would leave a model little time a clip."""
SHARE = 5
"""One of so many clips is in each phase, unless asked for otherwise."""
NOTES = "The labels are impressions of people. Do not pass the clips on, and do not try to find out who is shown.\n"


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    practice: int | None
    """Clips of Practice; None: a fifth of all, 60 at most."""
    final: int | None
    """Clips of Final; None: as for Practice."""
    time_limit_s: int
    """Of each phase, seconds."""
    start: datetime | None
    """When the first phase starts, UTC; None writes the data alone."""
    rank_by: str = Rules.rank_by
    """What the leaderboard is ordered by: prediction or explanation."""

    def sizes(self, clips: int) -> dict[str, int]:
        """Return how many clips each phase should have, by phase, in a set of so many."""
        usual = min(LARGEST_PHASE, max(1, clips // SHARE))
        return {"practice": self.practice or usual, "final": self.final or usual}


def make_own(
    found: Found,
    challenge: Challenge,
    stage: Stage,
    wanted: Wanted,
    *,
    treatment: Treatment,
    workers: int,
    progress: Progress | None = None,
) -> tuple[tuple[Part, ...], Written]:
    """Write an organiser's own challenge.

    Returns
    -------
    parts : tuple of Part
        Public data and phases.
    written : Written
        Version and constants.

    Raises
    ------
    BundleError
        When a part would be empty, or clips cannot be made.
    """
    dataset = found.dataset
    dealt = split_by_source(dataset, wanted.sizes(len(dataset.clips)), "training", seed=stage.seed)
    parts = tuple(Part(name, clips, phase=name != "training", closed=name == "final") for name, clips in dealt.items())
    rules = Rules(
        challenge.title,
        challenge.group,
        {},
        challenge.vocabulary,
        challenge.aliases,
        time_limit_s=wanted.time_limit_s,
        rank_by=wanted.rank_by,
    )

    def add_rest(folder: Path, constants: Mapping[str, float]) -> None:
        if wanted.start is not None:
            described = Described(
                challenge, found.asked, dataset, parts, has_sources=found.has_sources, rules=rules, start=wanted.start
            )
            add_bundle(folder, described, constants)

    written = write(
        dataset,
        parts,
        stage,
        rules=rules,
        treatment=treatment,
        notes=NOTES,
        workers=workers,
        progress=progress,
        beside=add_rest,
    )
    return parts, written
