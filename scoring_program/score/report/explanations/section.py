"""The section itself: the gallery, the table of all clips, and what holds for all clips together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from score.diagnostics.by_rank import RankCurve
from score.diagnostics.reasons import GROUNDED, RightReasons
from score.evaluation.clip_numbers import ClipNumbers
from score.report.explanations.cards import CardGroups, card_groups, problem_note
from score.report.explanations.verdict import STATES, clip_state
from score.report.first_screen.status import STATUS_WORDS
from score.report.gate import Scored
from score.report.numbers import ceiling, percent


@dataclass(frozen=True)
class ClipRow:
    """One clip of the table."""

    clip_id: str
    """Opaque id."""
    status: str
    """In words."""
    numbers: ClipNumbers | None
    """How its explanation was judged; None without a prediction."""
    predicted: float | None
    """Predicted main target; None without a prediction."""
    truth: float | None
    """True main target; None unless the settings open it."""
    note: str
    """First problem, and how many more."""

    @property
    def state(self) -> str:
        """The verdict; empty without a prediction."""
        return clip_state(self.numbers) if self.numbers else ""


@dataclass(frozen=True)
class Explanations:
    """The explanations, clip by clip; nothing about a clip where the settings close them."""

    main_title: str
    """Title of the main target."""
    titles: tuple[str, ...]
    """Titles of all targets."""
    shows_clips: bool
    """Whether the table of clips and the gallery are open."""
    shows_truth: bool
    """Whether true values and errors are open."""
    tallies: tuple[tuple[str, int, float, float], ...]
    """(verdict, clips, percentage of clips before it, percentage of its own); empty where clips are closed."""
    groups: CardGroups
    """The gallery: why these, and the cards."""
    ranks: tuple[tuple[RankCurve, float], ...]
    """(what hiding changed by rank, upper end of the scale), in space and in time, where that was measured."""
    rows: tuple[ClipRow, ...]
    """The table of clips: those without a prediction first, then by what held up least."""
    reasons: RightReasons | None
    """Right and wrong, grounded or not; None without known causes, and where true values are closed."""
    meaning: str
    """What these words mean."""
    shortened: bool = False
    """Whether clips were left out to keep the page small."""


def explanations(scored: Scored) -> Explanations:
    """Build the section; nothing about a clip where the settings close them."""
    settings = scored.settings
    return Explanations(
        main_title=settings.main.title,
        titles=tuple(target.title for target in settings.targets),
        shows_clips=settings.report.clips,
        shows_truth=settings.report.truth,
        tallies=tuple(_tallies(scored)) if settings.report.clips else (),
        groups=card_groups(scored),
        ranks=tuple(
            (curve, ceiling(max(rank.change + rank.error for rank in curve.ranks)))
            for curve in scored.evaluation.curves
            if curve.ranks
        ),
        rows=_rows(scored) if settings.report.clips else (),
        reasons=scored.evaluation.reasons,
        meaning=(
            f"Right: {settings.main.title} is off by less than {percent(settings.explanation.gate)} of its range. "
            f"Grounded: the claims about it agree with the known causes by {GROUNDED:g} or more, where 0 is chance "
            "and 1 exact. In no score."
        ),
    )


def smaller(section: Explanations) -> Explanations | None:
    """Leave out half of each group of cards, or of the table; None when nothing is left."""
    if section.groups:
        halves = ((title, cards[: len(cards) // 2]) for title, cards in section.groups)
        return replace(section, groups=tuple((title, cards) for title, cards in halves if cards), shortened=True)
    if section.rows:
        return replace(section, rows=section.rows[: len(section.rows) // 2], shortened=True)
    return None


def _tallies(scored: Scored) -> Iterator[tuple[str, int, float, float]]:
    counts = Counter(clip_state(one) for one in scored.evaluation.clips if one)
    share, before = 100 / max(1, counts.total()), 0
    for state in STATES:
        if counts[state]:
            yield state, counts[state], round(share * before, 2), round(share * counts[state], 2)
        before += counts[state]


def _rows(scored: Scored) -> tuple[ClipRow, ...]:
    judged = scored.evaluation.clips or (None,) * len(scored.outcomes.clip_ids)
    rows = (_row(clip, numbers, scored) for clip, numbers in enumerate(judged))
    return tuple(sorted(rows, key=lambda row: (row.numbers is not None, row.numbers.held if row.numbers else 0.0)))


def _row(clip: int, numbers: ClipNumbers | None, scored: Scored) -> ClipRow:
    outcomes, settings = scored.outcomes, scored.settings
    clip_id, status = outcomes.clip_ids[clip], outcomes.statuses[clip]
    main = settings.names.index(settings.main_target)
    record = scored.results.clips.get(clip_id)
    return ClipRow(
        clip_id=clip_id,
        status=STATUS_WORDS[status],
        numbers=numbers,
        predicted=float(outcomes.prediction[clip, main]) if status == "ok" else None,
        truth=float(outcomes.truth[clip, main]) if settings.report.truth else None,
        note=problem_note(record.problems if record else ()),
    )
