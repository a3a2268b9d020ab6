"""The factors of the total, and what each axis could add to it.

They are computed only from numbers shown on the page, so they reveal nothing more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from score.axes.total import power_mean
from score.settings import AXES, ExplanationScore


@dataclass(frozen=True)
class Factors:
    """``total = 100 x coverage x skill factor x (sum of weight x root of the axis)^2``."""

    coverage: float
    """Share of the clips with a valid text."""
    skill_factor: float | None
    """In [0, 1]; None if it cannot be derived, because all other factors are 0."""
    axes: Mapping[str, float]
    score: ExplanationScore

    @property
    def mean(self) -> float:
        """Power mean of the axes."""
        axes = {name: np.array(value) for name, value in self.axes.items()}
        return float(power_mean(axes, self.score, frozenset(AXES) - axes.keys()))

    @property
    def rows(self) -> tuple[tuple[str, float, float, float], ...]:
        """Each axis with its value, its root (value to the power) and its share of the weights."""
        weights = {name: getattr(self.score.weights, name) for name in self.axes}
        whole = sum(weights.values())
        return tuple(
            (name, value, float(np.float64(value) ** self.score.power), weights[name] / whole if whole else 0.0)
            for name, value in self.axes.items()
        )

    @property
    def summed(self) -> float:
        """Sum of weight times root over the axes."""
        return sum(root * weight for _, _, root, weight in self.rows)

    @property
    def total(self) -> float:
        """In [0, 100]; 0 if the skill factor is unknown."""
        return 100 * self.coverage * (self.skill_factor or 0.0) * self.mean

    def gain(
        self, axes: Mapping[str, float] | None = None, coverage: float | None = None, skill_factor: float | None = None
    ) -> float:
        """Compute how many points the total would gain if some factors had other values."""
        changed = replace(
            self,
            coverage=self.coverage if coverage is None else coverage,
            skill_factor=self.skill_factor if skill_factor is None else skill_factor,
            axes={**self.axes, **(axes or {})},
        )
        return changed.total - self.total


def factors(columns: Mapping[str, float], score: ExplanationScore, *, causes: bool) -> Factors:
    """Split a total into its factors.

    `causes`: whether the phase has known causes.
    """
    axes = {name: columns[name] for name in AXES if name != "known_causes" or causes}
    parts = Factors(columns["coverage"], 1.0, axes, score)
    whole = parts.total
    return replace(parts, skill_factor=min(1.0, columns["explanation"] / whole) if whole > 0 else None)
