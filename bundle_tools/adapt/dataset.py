"""A labelled set of clips as every adapter hands it over: nothing here knows where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bundle_tools.adapt.places import Place


@dataclass(frozen=True)
class Target:
    """One number that is predicted."""

    name: str
    """Key in tables and settings: lower-case letters, digits and underscores."""
    title: str
    """How people read it, at most 24 characters."""
    minimum: float
    """Lower end of the range."""
    maximum: float
    """Upper end of the range, > minimum."""


@dataclass(frozen=True)
class Clip:
    """One labelled clip."""

    name: str
    """Its true name; it never leaves the organiser."""
    source: str
    """True name of the source video or person: all clips of one stay together."""
    place: Place
    """Where its file is."""
    labels: tuple[float, ...]
    """One value a target, in the order of the set's targets."""
    transcript: str = ""
    """What is said; empty where nothing is known."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group by attribute, for measuring fairness; an attribute that is not known is missing."""


@dataclass(frozen=True)
class Dataset:
    """A labelled set of clips."""

    name: str
    """Short name, for `data_version`: lower-case letters, digits and hyphens."""
    targets: tuple[Target, ...]
    """What is predicted, at least one."""
    main_target: str
    """Name of the target that the split is balanced by and that has score columns of its own."""
    clips: tuple[Clip, ...]
    """Every clip once."""
    attributes: tuple[str, ...] = ()
    """Names of the group attributes, in the order of their columns."""

    @property
    def main(self) -> int:
        """Place of the main target among the targets."""
        return [target.name for target in self.targets].index(self.main_target)


@dataclass(frozen=True)
class Part:
    """One part of a set: a phase, or what participants may download."""

    name: str
    """Such as ``practice``; the name of its folders."""
    clips: tuple[Clip, ...]
    """Its clips."""
    phase: bool
    """Whether it is a phase, with input and reference data; else it is public data with labels."""
    closed: bool
    """Whether single clips and labels stay hidden in the report."""
