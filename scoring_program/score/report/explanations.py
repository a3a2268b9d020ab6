"""The section on explanations, clip by clip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from score.report.cards import card_groups
from score.report.clip_table import clip_rows
from score.report.content.explanations import CardGroup, Explanations, Tally
from score.report.rank_plot import rank_plot
from score.report.reasons import reasons
from score.report.scored import Scored
from score.report.verdict import WORDS, clip_state


def explanations(scored: Scored) -> Explanations:
    """Build the section; nothing about a clip where the settings close them."""
    report = scored.settings.report
    return Explanations(
        main_title=scored.settings.main.title,
        shows_clips=report.clips,
        shows_truth=report.truth,
        tallies=tuple(_tallies(scored)) if report.clips else (),
        groups=card_groups(scored),
        ranks=tuple(filter(None, map(rank_plot, scored.evaluation.curves))),
        rows=clip_rows(scored),
        reasons=reasons(scored),
    )


def smaller(section: Explanations) -> Explanations | None:
    """Leave out half of each group of cards, or of the table; None when nothing is left."""
    if section.groups:
        halves = (_half(group) for group in section.groups)
        return replace(section, groups=tuple(group for group in halves if group.first), shortened=True)
    if section.rows:
        return replace(section, rows=section.rows[: len(section.rows) // 2], shortened=True)
    return None


def _half(group: CardGroup) -> CardGroup:
    kept = (*group.first, *group.more)[: (len(group.first) + len(group.more)) // 2]
    return replace(group, first=kept[: len(group.first)], more=kept[len(group.first) :])


def _tallies(scored: Scored) -> Iterable[Tally]:
    counts = Counter(clip_state(one) for one in scored.evaluation.clips if one)
    whole, before = max(1, counts.total()), 0
    for state, (_, words) in WORDS.items():
        if counts[state]:
            share = 100 / whole
            yield Tally(state, words, counts[state], round(share * before, 2), round(share * counts[state], 2))
        before += counts[state]
