"""What a text can be about, and what it can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["low", "medium", "high"]


@dataclass(frozen=True)
class Vocabulary:
    """The cues and targets of a task."""

    cues: tuple[str, ...]
    """Names of the cues, such as ``speech_rate``."""
    targets: tuple[str, ...]
    """Names of the targets, such as ``emotional_stability``."""
    main: str
    """The target that is meant where a text names none; one of `targets`."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Phrases that stand for a cue, on top of the lexicon's."""


@dataclass(frozen=True)
class TextClaim:
    """A text says that a cue, as it is in this clip, moved a target."""

    cue: str
    """One of the vocabulary's cues."""
    target: str
    """One of the vocabulary's targets."""
    sign: int
    """1: raised, -1: lowered."""


@dataclass(frozen=True)
class LevelStatement:
    """A text says how high a target is."""

    target: str
    """One of the vocabulary's targets."""
    level: Level
    """In words; a number is not a level."""


@dataclass(frozen=True)
class Mention:
    """Words of a text that name a cue."""

    start: int
    """First character."""
    end: int
    """The one behind the last."""
    cue: str
    """One of the vocabulary's cues."""
