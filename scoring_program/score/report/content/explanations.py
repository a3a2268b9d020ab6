"""The section on explanations, clip by clip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """Some words of a text."""

    text: str
    """With hidden characters made visible."""
    cue: str
    """The cue that they name, in words; empty for other words."""
    sign: int
    """What the text says of the cue: 1 raised, -1 lowered, 0 nothing, or one thing of one target and one of another."""
    said: str
    """The same in words; empty where the text says nothing of the cue that could be read."""


@dataclass(frozen=True)
class Text:
    """What the model wrote."""

    shown: tuple[Piece, ...]
    """Its beginning; all of it, unless it is long."""
    rest: tuple[Piece, ...]
    """What waits behind a click."""
    cut_off: bool
    """Whether there is more than is kept here."""


@dataclass(frozen=True)
class Reason:
    """What one axis says about one explanation."""

    state: str
    """``good``, ``part``, ``bad``, or ``none`` where nothing was measured."""
    part: str
    """What it is about, in a word."""
    words: str
    """One sentence or two."""


@dataclass(frozen=True)
class Verdict:
    """Whether one explanation was true, as far as that was measured."""

    state: str
    """As of `Reason`."""
    words: str
    """In a few words."""
    value: str
    """Rounded mean of the axes, -1 to 1; a dash where nothing was measured."""
    reasons: tuple[Reason, ...]
    """Place, time, cues, text."""


@dataclass(frozen=True)
class EffectBar:
    """What hiding a part of the clip changed."""

    part: str
    """``top`` for what is marked most, ``bottom`` for what is marked least, else empty."""
    words: str
    """What was hidden."""
    value: str
    """Rounded change of the prediction."""
    width: float
    """Percentage of the largest change of this clip."""


@dataclass(frozen=True)
class Place:
    """Cells of the frame, as path data in units of cells."""

    rows: int
    """Rows of the grid."""
    columns: int
    """Columns of the grid."""
    top: str
    """Outline of what the explanation marks most; may be empty."""
    bottom: str
    """Outline of what it marks least; may be empty."""
    label: str
    """What a reader who cannot see it needs to know."""
    effects: tuple[EffectBar, ...]
    """What hiding the cells changed; empty where that was not measured."""


@dataclass(frozen=True)
class Timeline:
    """Bins of a clip, as path data in units of bins."""

    bins: int
    """Number of bins."""
    bars: str
    """Weights, drawn 100 high."""
    top: str
    """Bins that the explanation marks most, drawn 1 high; may be empty."""
    bottom: str
    """Bins that it marks least; may be empty."""
    ticks: tuple[tuple[float, str], ...]
    """(percentage of the length, seconds as written)."""
    label: str
    """What a reader who cannot see it needs to know."""
    effects: tuple[EffectBar, ...]
    """What hiding the bins changed; empty where that was not measured."""


@dataclass(frozen=True)
class ClaimRow:
    """One cue: what was claimed and what was measured."""

    cue: str
    """In words."""
    claimed: str
    """Signed and rounded, or a dash."""
    claimed_sign: int
    """1, -1 or 0."""
    measured: str
    """Signed and rounded, or why there is nothing."""
    measured_sign: int
    """1, -1 or 0."""
    state: str
    """``good``, ``bad`` or ``none``."""
    agrees: str
    """Whether both agree, in a few words."""


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
class CallRow:
    """One call of the second pass: the numbers behind the drawings."""

    what: str
    """What was altered."""
    how: str
    """By what."""
    places: str
    """How much or which."""
    change: str
    """Rounded change of the prediction."""


@dataclass(frozen=True)
class Card:
    """One explanation of the gallery."""

    clip_id: str
    """Opaque id."""
    judged_on: str
    """Title of the target that counts."""
    predicted: str
    """Rounded prediction of it."""
    truth: str
    """Rounded label of it; empty unless the settings open it."""
    verdict: Verdict
    """Whether it was true, and why."""
    frame: str
    """The clip's key frame as a ``data:`` URI, or an empty text."""
    frame_note: str
    """Which moment it shows, or why there is none."""
    place: Place | None
    """Where the model looked; None without a map."""
    timeline: Timeline | None
    """When it looked; None without weights."""
    text: Text
    """What it wrote."""
    claims: tuple[ClaimRow, ...]
    """Cues that were tested."""
    others: tuple[str, ...]
    """What of the claims was not tested, in sentences."""
    picture: str
    """The submission's picture as a ``data:`` URI, or an empty text."""
    no_picture: str
    """Why there is no picture."""
    values: tuple[ValueRow, ...]
    """One a target."""
    calls: tuple[CallRow, ...]
    """What was asked and measured."""


@dataclass(frozen=True)
class CardGroup:
    """Cards that were chosen for one reason."""

    title: str
    """Why these."""
    first: tuple[Card, ...]
    """Open at once."""
    more: tuple[Card, ...]
    """Behind a click."""


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
    state: str
    """The verdict's state; empty without a prediction."""
    verdict: str
    """The verdict in words; a dash without a prediction."""
    held: str
    """The verdict's value, or a dash."""
    axes: tuple[str, ...]
    """Space, time, claims, text, and known causes where the settings open true values; a dash where there is none."""
    note: str
    """First problem, and how many more."""


@dataclass(frozen=True)
class RankPoint:
    """One rank in a drawing of 320 x 150."""

    x: float
    """The rank."""
    y: float
    """What hiding it changed, the mean over the clips."""
    low: float
    """One standard error less."""
    high: float
    """One standard error more."""


@dataclass(frozen=True)
class RankRow:
    """The same in numbers."""

    rank: str
    """1 for what is marked most."""
    clips: str
    """Number of clips."""
    change: str
    """Mean change in percent of the target's range, with its standard error."""


@dataclass(frozen=True)
class RankPlot:
    """What hiding changed by how high it is marked, over all clips."""

    title: str
    """What was hidden."""
    points: tuple[RankPoint, ...]
    """From what is marked most to what is marked least."""
    y_ticks: tuple[tuple[float, str], ...]
    """(position, change as written)."""
    x_ticks: tuple[tuple[float, str], ...]
    """(position, rank as written)."""
    label: str
    """What a reader who cannot see it needs to know."""
    flag: str
    """Whether the order is clearly wrong somewhere, in a sentence."""
    rows: tuple[RankRow, ...]
    """The numbers behind it."""


@dataclass(frozen=True)
class Tally:
    """How many explanations got which verdict."""

    state: str
    """As of `Verdict`."""
    words: str
    """As of `Verdict`, for many."""
    count: int
    """How many clips."""
    start: float
    """Percentage of all clips that come before."""
    length: float
    """Percentage of all clips."""


@dataclass(frozen=True)
class ReasonRow:
    """Clips that are predicted right, or wrong."""

    title: str
    """Which of both."""
    grounded: str
    """How many of them with claims that agree with the known causes, and which share of all."""
    ungrounded: str
    """How many of them without."""


@dataclass(frozen=True)
class Reasons:
    """Whether predictions are right for the right reason."""

    sentence: str
    """What the words mean."""
    rows: tuple[ReasonRow, ...]
    """Right, wrong."""


@dataclass(frozen=True)
class Explanations:
    """The explanations, clip by clip; nothing about a clip where the settings close them."""

    main_title: str
    """Title of the main target."""
    shows_clips: bool
    """Whether the table of clips and the gallery are open."""
    shows_truth: bool
    """Whether true values and errors are open."""
    tallies: tuple[Tally, ...]
    """The verdicts of all clips with a prediction; empty where clips are closed."""
    groups: tuple[CardGroup, ...]
    """The gallery."""
    ranks: tuple[RankPlot, ...]
    """What hiding changed by rank, in space and in time, where that was measured."""
    rows: tuple[ClipRow, ...]
    """The table of clips: those without a prediction first, then by what held up least."""
    reasons: Reasons | None = None
    """Right and wrong, grounded or not; None without known causes, and where true values are closed."""
    shortened: bool = False
    """Whether clips were left out to keep the page small."""
