"""The section on explanations, clip by clip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClipRow:
    """One clip of the table."""

    clip_id: str
    """Opaque id."""
    status: str
    """In words."""
    good: bool
    """Whether the clip has a valid prediction."""
    predicted: str
    """Predicted main target, or a dash."""
    truth: str
    """True main target; empty unless the settings open it."""
    error: str
    """Error of the main target; empty unless the settings open it."""
    judged_on: str
    """Target on which the explanation was judged; empty without a prediction."""
    axes: tuple[str, ...]
    """Space, time, claims, text, and known causes where the settings open true values; a dash where there is none."""
    note: str
    """First problem, and how many more."""


@dataclass(frozen=True)
class ValueRow:
    """One predicted value of a card."""

    title: str
    """Target."""
    value: str
    """Rounded prediction."""
    position: float
    """Percentage of the range."""
    truth: str
    """Rounded label; empty unless the settings open it."""
    truth_position: float | None
    """Percentage of the range; None unless the settings open it."""


@dataclass(frozen=True)
class ClaimRow:
    """One cue claim of a card."""

    cue: str
    """Cue."""
    target: str
    """Title of the target."""
    contribution: str
    """Signed, rounded."""
    raised: bool
    """Whether the cue is said to have raised the target."""
    width: float
    """Percentage: the size of the contribution."""


@dataclass(frozen=True)
class Mark:
    """One filled cell of an evidence drawing."""

    x: int
    """Column."""
    y: int
    """Row."""
    opacity: str
    """0.1 to 1, one decimal."""


@dataclass(frozen=True)
class Grid:
    """Evidence in space (rows x columns) or time (one row)."""

    rows: int
    """Number of rows."""
    columns: int
    """Number of columns."""
    marks: tuple[Mark, ...]
    """Cells with weight."""
    label: str
    """What a reader who cannot see it needs to know."""


@dataclass(frozen=True)
class Card:
    """One explanation of the gallery."""

    clip_id: str
    """Opaque id."""
    image: str
    """``data:`` URI, or an empty text."""
    no_image: str
    """Why there is no picture."""
    text: str
    """The explanation."""
    text_ok: bool
    """Whether the text is valid."""
    values: tuple[ValueRow, ...]
    """One a target."""
    claims: tuple[ClaimRow, ...]
    """Largest first."""
    space: Grid | None
    """Where the model looked."""
    time: Grid | None
    """When the model looked."""


@dataclass(frozen=True)
class Explanations:
    """The explanations, clip by clip; nothing about a clip where the settings close them."""

    main_title: str
    """Title of the main target."""
    shows_clips: bool
    """Whether the table of clips and the gallery are open."""
    shows_truth: bool
    """Whether true values and errors are open."""
    clip_groups: tuple[tuple[str, tuple[ClipRow, ...]], ...]
    """(heading, rows) of the table of clips."""
    cards: tuple[Card, ...]
    """The gallery."""
    shortened: bool = False
    """Whether clips were left out to keep the page small."""
