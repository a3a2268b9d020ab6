"""Which of several runs is better: bands on common resamples, and ranks under other rules."""

from dataclasses import asdict

import numpy as np

from bundle_tools.challenge.compare.bands import Contender, bands, shares_above
from bundle_tools.challenge.compare.field import TOTAL, Field
from bundle_tools.challenge.compare.ranks import mean_ranks, places
from bundle_tools.challenge.compare.table import Row
from score.metrics import percentile_interval

DIAGNOSTIC = "Totals are diagnostic here: the leaderboard ranks by predictions."
"""Added if the phase does not rank by totals."""


def judge(field: Field) -> list[Row]:
    """Sort runs, best total first."""
    weights = field.weights
    arithmetic = [
        100 * one.points["coverage"] * one.skill * sum(weight * one.points[axis] for axis, weight in weights.items())
        for one in field.entries
    ]
    # Skill and coverage count too: a model that predicts nothing may explain it well.
    judged = [[*(one.points[axis] for axis in weights), one.points["coverage"], one.skill] for one in field.entries]
    ranks = mean_ranks(np.array(judged))
    contenders = [Contender(one.name, one.points[TOTAL], one.draws[TOTAL]) for one in field.entries]
    above = shares_above(contenders)
    total_places = places([contender.total for contender in contenders])
    arithmetic_places, rank_places = places(arithmetic), places(-ranks)
    found = bands(contenders)
    result = {}
    for at, (one, contender) in enumerate(zip(field.entries, contenders, strict=True)):
        ends = percentile_interval(contender.draws, field.settings.bootstrap.level) if field.drawn else None
        result[one.name] = Row(
            name=one.name,
            band=found[one.name],
            place=total_places[at],
            total=contender.total,
            interval=(float(ends[0]), float(ends[1])) if ends else None,
            arithmetic=arithmetic[at],
            arithmetic_place=arithmetic_places[at],
            mean_rank=float(ranks[at]),
            mean_rank_place=rank_places[at],
            coverage=one.points["coverage"],
            skill=one.skill,
            axes={axis: one.points[axis] for axis in weights},
            reasons=asdict(one.scores.reasons) if one.scores.reasons else None,
            reaction_size=one.scores.reaction.value,
            large_reaction=one.scores.reaction.large,
            above={other.name: float(above[at, k]) for k, other in enumerate(contenders) if k != at},
        )
    return [result[name] for name in found]
