"""The phases and public data that are made of the data set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bundle_tools.adapt.baseline import LookUp, describe, look_up
from bundle_tools.adapt.dataset import Clip, Part
from bundle_tools.adapt.first_impressions.facts import NOTES, OLD_TARGETS, RULES, STABILITY
from bundle_tools.adapt.first_impressions.reader import Found
from bundle_tools.adapt.media import Treatment
from bundle_tools.adapt.split import off_size, split_by_source
from bundle_tools.adapt.stage import Stage
from bundle_tools.adapt.writer import Written, write
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

OFFICIAL = {"training": "training", "practice": "validation", "final": "test"}
"""Our parts, and the official ones that they replicate."""


@dataclass(frozen=True)
class Made:
    """What was made."""

    parts: tuple[Part, ...]
    """Public data and phases."""
    baselines: tuple[LookUp, ...]
    """One a phase."""
    written: Written
    """Version and constants."""
    official: bool
    """Whether it replicates the official split."""
    title: str
    """How people read the main target."""
    off: tuple[str, ...]
    """A sentence for each phase that is far from the size that was asked for."""

    def summary(self) -> Iterator[str]:
        """Give the lines that an organiser reads at the end."""
        for part in self.parts:
            sources = len({clip.source for clip in part.clips})
            yield f"{part.name}: {len(part.clips)} clips of {sources} videos."
        if self.written.kept:
            yield f"{self.written.kept} clips were finished by an earlier run and kept."
        yield from describe(self.baselines, self.title)
        if self.official:
            yield "The official split has videos on both sides: compare scores with the look-up, and rank nobody by it."
        yield from self.off
        yield STABILITY.strip()


def make_first_impressions(
    found: Found,
    stage: Stage,
    *,
    sizes: Mapping[str, int] | None,
    treatment: Treatment,
    time_limit_s: int,
    rank_by: str,
    results: bool,
    workers: int,
    progress: Progress | None = None,
) -> Made:
    """Write the data set as an organiser's folder.

    Parameters
    ----------
    found
        The data set.
    stage
        Where it is made.
    sizes
        Clips of ``practice`` and ``final``; all others are public. None replicates the official split.
    treatment, workers, progress
        As in `write`.
    time_limit_s
        Time limit of both phases, seconds.
    rank_by
        What the leaderboard is ordered by: prediction or explanation.
    results
        Whether the phases take files of 2017, with the true names of clips, as well as code.

    Raises
    ------
    BundleError
        When a part would be empty, or clips cannot be made.
    """
    dataset = found.dataset
    dealt = _official(found) if sizes is None else split_by_source(dataset, sizes, "training", seed=stage.seed)
    parts = tuple(Part(name, clips, phase=name != "training", closed=name == "final") for name, clips in dealt.items())
    baselines = tuple(look_up(dataset, dealt["training"], part) for part in parts if part.phase)
    written = write(
        dataset,
        parts,
        stage,
        rules=replace(RULES, time_limit_s=time_limit_s, rank_by=rank_by, results=OLD_TARGETS if results else None),
        treatment=treatment,
        notes=NOTES,
        workers=workers,
        progress=progress,
    )
    off = tuple(off_size({part.name: len(part.clips) for part in parts}, sizes or {}))
    return Made(parts, baselines, written, sizes is None, dataset.targets[dataset.main].title, off)


def _official(found: Found) -> dict[str, tuple[Clip, ...]]:
    clips = {clip.name: clip for clip in found.dataset.clips}
    parts = {part: tuple(clips[name] for name in found.official[split]) for part, split in OFFICIAL.items()}
    empty = [OFFICIAL[part] for part, members in parts.items() if not members]
    if empty:
        raise BundleError(f"--official-split: no clips with labels in {', '.join(empty)}. Add the missing files.")
    return parts
