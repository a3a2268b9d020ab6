"""What the comparison page shows, as texts and positions: the template sees this object and nothing else."""

from dataclasses import dataclass

Facts = tuple[tuple[str, str], ...]
"""(label, value) pairs."""


@dataclass(frozen=True)
class Drawn:
    """A value on a scale; positions are percentages of the scale's length."""

    start: float
    """Where the fill begins: at zero."""
    length: float
    """Length of the fill."""
    interval: tuple[float, float] | None
    """Position and length of the interval."""
    chance: float | None
    """Position of what can be had without looking at a clip."""


@dataclass(frozen=True)
class RankRow:
    """One run in the ranking."""

    name: str
    """Of the run."""
    band: int
    """1 for the best."""
    opens: bool
    """Whether it is the first of its band."""
    place: int
    """By the total."""
    total: str
    """Explanation score."""
    interval: str
    """Of the total, or an empty text."""
    drawn: Drawn
    """The total on the scale of the ranking."""
    arithmetic: str
    """The total with a plain mean of the axes."""
    arithmetic_place: int
    """By that."""
    mean_rank: str
    """Mean of the ranks on each axis, coverage and skill."""
    mean_rank_place: int
    """By that."""


@dataclass(frozen=True)
class Gap:
    """The total of one run minus that of another."""

    value: str
    """With its sign."""
    interval: str
    """On common resamples, or an empty text."""
    direction: int
    """1 above, -1 below, 0 if chance could make the difference."""


@dataclass(frozen=True)
class GapRow:
    """One run against others."""

    name: str
    """Of the run."""
    gaps: tuple[Gap | None, ...]
    """One a column; None against itself."""


@dataclass(frozen=True)
class ScoreCell:
    """One score of one run."""

    value: str
    """Rounded."""
    interval: str
    """Rounded, or an empty text."""
    drawn: Drawn | None
    """None for plain facts."""
    direction: int
    """Against the leader, as in `Gap`."""


@dataclass(frozen=True)
class ScoreRow:
    """One score column, run by run."""

    title: str
    """Heading."""
    meaning: str
    """One sentence."""
    cells: tuple[ScoreCell, ...]
    """One a run, best total first."""


@dataclass(frozen=True)
class ScoreGroup:
    """Scores of one kind."""

    title: str
    """Heading."""
    rows: tuple[ScoreRow, ...]
    """At least one."""


@dataclass(frozen=True)
class ClipCell:
    """What one run did with one clip."""

    value: str
    """Its prediction, or how well it explains the clip."""
    note: str
    """The prediction's error, or an empty text."""


@dataclass(frozen=True)
class ClipRow:
    """One clip on which runs differ."""

    clip_id: str
    """Opaque id."""
    about: str
    """The true value, or the target on which explanations of this clip are judged; may be empty."""
    cells: tuple[ClipCell, ...]
    """One a run, best total first."""
    texts: tuple[str, ...]
    """What each run said of the clip; none where predictions are compared."""


@dataclass(frozen=True)
class Clips:
    """The clips on which runs differ most."""

    target: str
    """Title of the main target."""
    shows_truth: bool
    """Whether labels are shown."""
    predictions: tuple[ClipRow, ...]
    """Largest difference of the main target's predictions, or of their errors, first."""
    explanations: tuple[ClipRow, ...]
    """Largest difference of how well the clip is explained first."""


@dataclass(frozen=True)
class ComparisonPage:
    """The whole page."""

    heading: str
    """Names of the challenge and the phase."""
    headline: str
    """How many runs and bands."""
    private: bool
    """Whether it shows what the phase closes to participants."""
    verdict: tuple[str, ...]
    """What the numbers say, in sentences."""
    names: tuple[str, ...]
    """Of the runs, best total first; the order of all cells."""
    scale: str
    """Upper end of the ranking's scale, whose lower end is 0."""
    level: str
    """Nominal coverage of intervals; empty where none is drawn."""
    gap_level: str
    """Nominal coverage of intervals of differences."""
    ranking: tuple[RankRow, ...]
    """One a run."""
    against: tuple[str, ...]
    """Names of the runs that all are compared with."""
    gaps: tuple[GapRow, ...]
    """One a run; none for a single run."""
    scores: tuple[ScoreGroup, ...]
    """Every score column."""
    clips: Clips | None
    """None where the phase is closed, or where there is nothing to compare."""
    shared: Facts
    """What is the same for all runs."""
    own: tuple[tuple[str, tuple[str, ...]], ...]
    """(label, one value a run) of what is not."""
    method: tuple[str, ...]
    """How the numbers were made, in sentences."""
