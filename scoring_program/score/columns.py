"""The one registry of score columns: scores.json, the leaderboard, the pages' tables and the report all read it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.axes.registry import REGISTRY
from score.read.reference import HIGHEST, LOWEST
from score.settings import Settings

Array = NDArray[np.float64]
TOTAL = "explanation"
"""Key of the total of the explanations."""
SKILL = "skill"
"""Key of the column that ranks if explanations do not."""
NOT_COMPARABLE = "not_comparable"
"""Key of the column that marks a run on a busy machine."""


@dataclass(frozen=True)
class Measured:
    """The input of all columns, once for the run and once for each resample (b rows, k targets)."""

    metrics: dict[str, Array]
    """Each metric of score.metrics.METRICS by name, (b, k)."""
    axes: dict[str, Array]
    """Columns about explanations by key, (b,) each (score.axes.table)."""
    jury: float
    """Mean rating by a jury; the same in every resample of clips."""
    failed_clips: float
    """Clips with the worst value; the same in every resample."""
    duration_s: float
    """Wall time of ingestion; the same in every resample."""
    not_comparable: float
    """1 if a busy machine cost the run time, else 0; the same in every resample."""


@dataclass(frozen=True)
class Column:
    """One number of the leaderboard."""

    key: str
    title: str
    """Heading, at most 36 characters."""
    meaning: str
    compute: Callable[[Measured], Array | float] = field(repr=False, compare=False)
    """Returns (b,) values, or one number that is the same in every resample."""
    direction: str = "desc"
    """``desc`` when higher is better, else ``asc``: the leaderboard's word for its sorting."""
    minimum: float = 0.0
    """Lowest possible value."""
    maximum: float | None = 1.0
    """Highest possible value; None when there is none."""
    worst: float | None = 0.0
    """Value of a run that got everything wrong; None if that depends on the data."""
    chance: float | None = None
    """Value that is reached without watching a clip; None if that depends on the data."""
    decimals: int = 4
    """Decimals in scores.json, and so on the leaderboard."""
    file: str = ""
    """Setting that names the file it is computed from, such as ``jury``; empty if every phase has it."""
    of_labels: bool = False
    """Whether it depends on labels or known causes, and so reveals something about them where they are closed."""

    @property
    def hidden(self) -> bool:
        """Whether leaderboards hide it, which is 0 for nearly everybody: until people have rated, or always."""
        return self.file in {"observations", "jury"} or self.key == NOT_COMPARABLE

    @property
    def closed_spread(self) -> int:
        """Decimals of its interval if labels are closed, two fewer than its own.

        Every additional number that depends on labels is another equation about them. Next to a score of four decimals,
        a coarse number adds almost nothing.
        """
        return max(0, self.decimals - 2)

    def rounded(self, value: float) -> float | int:
        """Round as in scores.json; whole numbers become integers, and -0.0 becomes 0.0."""
        return round(value, self.decimals) + 0.0 if self.decimals else round(value)


def spread_decimals(column: Column, *, open_: bool) -> int:
    """Decimals of numbers shown beside a score, such as its interval; fewer if labels are closed."""
    return column.decimals if open_ else column.closed_spread


def columns(settings: Settings) -> tuple[Column, ...]:
    """List the score columns of a task, in leaderboard order; the first is the primary one.

    `settings`: targets, main target and group; the program itself knows no target names.
    """
    main = settings.main
    chosen = [settings.names.index(main.name)]
    predicted = _pair(main.name, main.title, "", chosen)
    if settings.group:
        chosen = [settings.names.index(name) for name in settings.group.targets]
        title = settings.group.title
        predicted += _pair(settings.group.name, title, f"; mean of {len(chosen)} targets", chosen)
    explained = (column for column in _EXPLAINED if settings.causes or column.file != "causes")
    listed = (*explained, *predicted, *_OTHERS)
    if settings.rank_by == "explanation":
        return listed
    shown = (replace(column, meaning=_DIAGNOSTIC) if column.key == TOTAL else column for column in listed)
    return tuple(sorted(shown, key=lambda column: column.key != SKILL))


def total_column(settings: Settings) -> Column:
    """Return the total of the explanations, whether it ranks or not."""
    return next(column for column in columns(settings) if column.key == TOTAL)


def _pair(name: str, title: str, of: str, chosen: list[int]) -> list[Column]:
    """Columns of one target, or of the mean over several."""
    return [
        Column(
            f"{name}_accuracy",
            f"{title}: 1 - MAE",
            f"1 minus the mean absolute error, on the range{of}.",
            lambda measured: measured.metrics["accuracy"][:, chosen].mean(axis=1),
            of_labels=True,
        ),
        Column(
            f"{name}_ccc",
            f"{title}: CCC",
            f"Concordance with the labels{of}.",
            lambda measured: measured.metrics["ccc"][:, chosen].mean(axis=1),
            minimum=-1.0,
            worst=-1.0,
            chance=0.0,
            of_labels=True,
        ),
    ]


def _explained(key: str, title: str, meaning: str, **more: Any) -> Column:  # noqa: ANN401 - any field of a column
    """Make a column about explanations, for which 0 is the minimum, the worst value and chance."""
    return Column(key, title, meaning, lambda measured: measured.axes[key], **{"chance": 0.0, **more})


_DIAGNOSTIC = "Total of the explanations; a diagnostic in this phase, it does not rank."
_EXPLAINED = (
    _explained(
        TOTAL,
        "Explanation score",
        "The ranking score: faithful explanations of good predictions.",
        maximum=100.0,
        decimals=2,
        of_labels=True,
    ),
    *(
        _explained(axis.key, axis.title, axis.meaning, file="causes" * axis.of_causes, of_labels=axis.of_causes)
        for axis in REGISTRY.values()
    ),
    Column(
        SKILL,
        "Skill over the constant",
        "Share of the constant baseline's error that is removed; mean of all targets.",
        lambda measured: np.asarray(measured.metrics["skill"].mean(axis=1)),
        minimum=-1.0,
        worst=-1.0,
        chance=0.0,
        of_labels=True,
    ),
    _explained("coverage", "Coverage of explanations", "Share of the clips with a text of valid length.", chance=None),
)
"""The ranking column and its parts; a narrow leaderboard shows only these."""

_OTHERS = (
    Column(
        "failed_clips",
        "Failed clips",
        "Clips without a valid prediction.",
        lambda measured: measured.failed_clips,
        direction="asc",
        maximum=None,
        worst=None,
        decimals=0,
    ),
    Column(
        "duration_s",
        "Run time (s)",
        "Duration of the whole run.",
        lambda measured: measured.duration_s,
        direction="asc",
        maximum=None,
        worst=None,
        decimals=1,
    ),
    _explained(
        "plausibility",
        "Plausibility",
        "Agreement with what people pointed at, where asked; not in the total.",
        file="observations",
    ),
    Column(
        "jury",
        "Jury",
        "Mean rating by a jury; not in the total, 0 before it has voted.",
        lambda measured: measured.jury,
        minimum=LOWEST,
        maximum=HIGHEST,
        worst=LOWEST,
        decimals=2,
        file="jury",
    ),
    Column(
        NOT_COMPARABLE,
        "Not comparable",
        "1 if a busy machine cost the run time, so that the organisers run it again; else 0.",
        lambda measured: measured.not_comparable,
        direction="asc",
        worst=None,
        decimals=0,
    ),
)
