"""Subjects and statements of a text."""

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
    """The target that is meant if a text names none; one of `targets`."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Phrases for each cue, in addition to the lexicon's."""


@dataclass(frozen=True)
class TextClaim:
    """A claim that a cue, as it is in this clip, moved a target."""

    cue: str
    """One of the vocabulary's cues."""
    target: str
    """One of the vocabulary's targets."""
    sign: int
    """1: raised, -1: lowered."""


@dataclass(frozen=True)
class LevelStatement:
    """A statement about how high a target is."""

    target: str
    """One of the vocabulary's targets."""
    level: Level
    """The level in words; a number is not a level."""


@dataclass(frozen=True)
class Mention:
    """A stretch of a text that names a cue."""

    start: int
    """First character."""
    end: int
    """One past the last character."""
    cue: str
    """One of the vocabulary's cues."""
