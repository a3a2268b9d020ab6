"""The questions to jurors and the rules for their answers: the keys of `criteria.yaml`."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass

from bundle_tools.errors import BundleError
from score.schema import CONFIG, Entries, Name, Rule, Section, WrongSettings, line, read

DEFAULT = Path(__file__).with_name("criteria.yaml")
_Text = Annotated[str, line(2000)]


@dataclass(frozen=True, config=CONFIG)
class Criterion(Section):
    """One of the ratings."""

    name: Name
    """Key in files."""
    title: Name
    question: _Text
    weight: Annotated[StrictFloat, Field(gt=0)]
    """Weight in the mean; the sum is 1."""
    anchors: dict[StrictInt, _Text]
    """Meanings of some values."""


@dataclass(frozen=True, config=CONFIG)
class Controls(Section):
    """What is asked besides the genuine items."""

    boilerplate: Annotated[StrictInt, Field(ge=0)]
    """Items with a text that says nothing."""
    repeats: Annotated[StrictFloat, Field(ge=0, le=1)]
    """Share of the genuine items that is asked twice."""


@dataclass(frozen=True, config=CONFIG)
class Exclusion(Section):
    """When a juror is left out."""

    largest_repeat_difference: StrictFloat
    """Mean absolute difference between first and second ratings up to which a juror counts."""


@dataclass(frozen=True, config=CONFIG)
class Rules(Section):
    """How a jury works; the same for all sheets of one jury."""

    format_version: Literal[2]
    scale: tuple[StrictInt, StrictInt]
    """Lowest and highest rating."""
    criteria: Entries[Criterion]
    """In the order asked."""
    controls: Controls
    boilerplate_texts: Entries[_Text]
    exclusion: Exclusion
    least_jurors: Annotated[StrictInt, Field(ge=1)]
    """Fewest counting jurors for a result."""
    resamples: Annotated[StrictInt, Field(ge=1)]
    """Bootstrap resamples."""
    level: Annotated[StrictFloat, Field(gt=0, lt=1)]
    """Coverage of intervals."""
    seed: StrictInt
    sha256: str = ""
    """Hash of the file, fixed before the first sheet; not a key."""

    @property
    def lowest(self) -> int:
        """Lowest rating."""
        return self.scale[0]

    @property
    def highest(self) -> int:
        """Highest rating."""
        return self.scale[1]

    def mistakes(self) -> Iterator[Rule]:
        """Check the scale, the names and the weights."""
        names, total = [criterion.name for criterion in self.criteria], sum(one.weight for one in self.criteria)
        if not 0 <= self.lowest < self.highest <= 9:
            yield "scale", f"{self.lowest} to {self.highest}", "two digits, ascending"
        if len(set(names)) < len(names):
            yield "criteria", "a duplicate name", "each name once"
        if abs(total - 1) > 1e-9:
            yield "criteria", f"weights of {total:g}", "weights that sum to 1"


def read_rules(path: Path = DEFAULT) -> Rules:
    """Read the rules of a jury.

    Raises BundleError when the file cannot be used, with the wrong keys.
    """
    try:
        return replace(read(Rules, path), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    except WrongSettings as error:
        wrong = (f"{mistake.key}: found {mistake.found}; expected {mistake.expected}" for mistake in error.mistakes)
        raise BundleError(f"{path}: {'. '.join(wrong)}. Start from {DEFAULT}.") from None
