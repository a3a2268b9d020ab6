"""What a jury works by: the questions and rules of `criteria.yaml`, and the key that only the organiser has."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictFloat, StrictInt, TypeAdapter
from pydantic.dataclasses import dataclass

from bundle_tools.errors import BundleError
from bundle_tools.schema import CONFIG, Entries, Name, Rule, Section, WrongSettings, line, read
from bundle_tools.untrusted import read_json

DEFAULT = Path(__file__).with_name("criteria.yaml")
_Text = Annotated[str, line(2000)]


@dataclass(frozen=True, config=CONFIG)
class Criterion(Section):
    """One of the ratings."""

    name: Name
    title: Name
    question: _Text
    weight: Annotated[StrictFloat, Field(gt=0)]
    """Weight in the mean; the sum is 1."""
    anchors: dict[StrictInt, _Text]


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
    criteria: Entries[Criterion]
    controls: Controls
    boilerplate_texts: Entries[_Text]
    exclusion: Exclusion
    least_jurors: Annotated[StrictInt, Field(ge=1)]
    resamples: Annotated[StrictInt, Field(ge=1)]
    level: Annotated[StrictFloat, Field(gt=0, lt=1)]
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
        names, total = [criterion.name for criterion in self.criteria], sum(row.weight for row in self.criteria)
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


FORMAT_VERSION = 3


@plain_dataclass(frozen=True)
class Team:
    """One finalist."""

    letter: str
    name: str
    rated_sha256: str
    """SHA-256 of the rated explanations and their submission."""
    total: float
    """Its measured explanation score, 0 to 100."""
    band: int
    """Its band among the finalists, 1 for the best."""


@plain_dataclass(frozen=True)
class RatedItem:
    """One explanation that jurors rate."""

    item_id: str
    """Opaque; reveals neither clip, team nor kind."""
    kind: str
    """`genuine`, `boilerplate` or `repeat`."""
    clip_id: str
    letter: str
    of: str
    """The genuine item that is repeated, or whose text was replaced; empty for a genuine item."""


@plain_dataclass(frozen=True)
class Key:
    """One jury."""

    phase: str
    main_target: str
    rules_sha256: str
    teams: tuple[Team, ...]
    clips: tuple[str, ...]
    """Clips that every finalist is judged on."""
    items: tuple[RatedItem, ...]
    missing: tuple[tuple[str, str], ...]
    """(letter, clip id) of missing explanations; each counts as the lowest rating without being asked about."""
    sheets: tuple[str, ...]
    """Id of each juror's sheet; a juror's number is the position in this list, from 1."""

    @property
    def design(self) -> str:
        """Hash of everything that two sheets of one jury share."""
        return hashlib.sha256(_text(self).encode()).hexdigest()

    def team(self, letter: str) -> Team:
        """Find a team by its letter."""
        return next(team for team in self.teams if team.letter == letter)


def write_key(path: Path, key: Key) -> None:
    """Write the key, for the organiser only."""
    path.write_text(_text(key) + "\n", "utf-8")
    path.chmod(0o600)


def read_key(path: Path) -> Key:
    """Read a key.

    Raises BundleError when the file is not a key.
    """
    try:
        root: dict[str, Any] = read_json(path)
        if root.pop("format_version") != FORMAT_VERSION:
            raise BundleError(f"{path}: expected format_version {FORMAT_VERSION}. Use the release that made it.")
        return TypeAdapter(Key).validate_python(root)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        expected = "the key.json that `bundle jury make` wrote"
        raise BundleError(f"{path}: expected {expected} ({type(error).__name__}: {error!s:.200}).") from error


def _text(key: Key) -> str:
    return json.dumps({"format_version": FORMAT_VERSION, **asdict(key)}, indent=1, sort_keys=True)
