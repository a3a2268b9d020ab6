"""A labelled set of clips and its parts, independent of the source."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bundle_tools.own_clips.files.places import Place
from bundle_tools.phase_data.settings import Challenge

PUBLIC = "training"
"""The part that participants get with its labels; every other part is a phase."""
CLOSED = "final"
"""The phase whose labels and single clips stay hidden."""


@dataclass(frozen=True)
class Clip:
    """One labelled clip."""

    name: str
    """Its true name, which only the organiser sees."""
    source: str
    """True name of the source video or person; all clips of a source stay in one part."""
    place: Place
    labels: tuple[float, ...]
    """One value per target, in the order of the challenge's targets."""
    transcript: str = ""
    """The transcript; empty if unknown."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group by attribute, for measuring fairness; unknown attributes are missing."""


@dataclass(frozen=True)
class Dataset:
    """A labelled set of clips."""

    name: str
    """Short name, for `data_version`: lower-case letters, digits and hyphens."""
    challenge: Challenge
    clips: tuple[Clip, ...]
    """Every clip once."""
    attributes: tuple[str, ...] = ()
    """Names of the group attributes, in the order of their columns."""
    has_sources: bool = True
    """Whether it is known which clips show the same person; otherwise every clip counts as a different one."""


@dataclass(frozen=True)
class Part:
    """One part of a set: a phase, or what participants may download."""

    name: str
    """`PUBLIC`, or a phase: practice or final."""
    clips: tuple[Clip, ...]

    @property
    def is_phase(self) -> bool:
        """Whether it has input and reference data; otherwise it is public data with labels."""
        return self.name != PUBLIC

    @property
    def is_open(self) -> bool:
        """Whether single clips and labels are shown in the report."""
        return self.name != CLOSED

    @property
    def people(self) -> int:
        """How many people or source videos are in it."""
        return len({clip.source for clip in self.clips})
