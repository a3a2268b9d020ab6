"""The section on explanations: the gallery, the table of all clips, and summaries over all clips."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from score.diagnostics.reasons import GROUNDED
from score.report.explanations.cards import card_groups, problem_note
from score.report.explanations.verdict import STATES, clip_state
from score.report.first_screen.status import STATUS_WORDS
from score.report.gate import Scored
from score.report.numbers import ceiling, percent


def explanations(scored: Scored) -> dict[str, Any]:
    """Build what the template needs besides settings and evaluation; nothing about single clips if these are closed."""
    settings, clips = scored.settings, scored.settings.report.clips
    return {
        "tallies": list(_tallies(scored)) if clips else [],
        "groups": card_groups(scored),
        # (effect of hiding by rank, upper end of the scale), in space and in time, if measured.
        "ranks": [
            (curve, ceiling(max(rank.change + rank.error for rank in curve.ranks)))
            for curve in scored.evaluation.curves
            if curve.ranks
        ],
        "rows": _rows(scored) if clips else [],
        "meaning": (
            f"Right: {settings.main.title} is off by less than {percent(settings.explanation_score.gate)} of its "
            f"range. Grounded: the claims about it agree with the known causes by at least {GROUNDED:g}, where 0 is "
            "chance and 1 is exact. Not scored."
        ),
        # Whether clips were left out to keep the page small.
        "shortened": False,
    }


def smaller(section: dict[str, Any]) -> dict[str, Any] | None:
    """Drop half of each group of cards, or else half of the table; return None if nothing is left."""
    if section["groups"]:
        halves = ((title, cards[: len(cards) // 2]) for title, cards in section["groups"])
        return section | {"groups": [(title, cards) for title, cards in halves if cards], "shortened": True}
    if rows := section["rows"]:
        return section | {"rows": rows[: len(rows) // 2], "shortened": True}
    return None


def _tallies(scored: Scored) -> Iterator[tuple[str, int, float, float]]:
    """Yield (verdict, clips, percentage of clips before it, its own percentage)."""
    counts = Counter(clip_state(one) for one in scored.evaluation.clips if one)
    share, before = 100 / max(1, counts.total()), 0
    for state in STATES:
        if counts[state]:
            yield state, counts[state], round(share * before, 2), round(share * counts[state], 2)
        before += counts[state]


def _rows(scored: Scored) -> list[dict[str, Any]]:
    """List the clips: those without a prediction first, then the worst explanations."""
    outcomes, settings = scored.outcomes, scored.settings
    main = settings.names.index(settings.main_target)
    judged = scored.evaluation.clips or (None,) * len(outcomes.clip_ids)
    rows = []
    for clip, (clip_id, status, numbers) in enumerate(zip(outcomes.clip_ids, outcomes.statuses, judged, strict=True)):
        record = scored.results.clips.get(clip_id)
        rows.append(
            {
                "clip_id": clip_id,
                "status": STATUS_WORDS[status],
                "numbers": numbers,
                "state": clip_state(numbers) if numbers else "",
                "predicted": float(outcomes.prediction[clip, main]) if status == "ok" else None,
                "truth": float(outcomes.truth[clip, main]) if settings.report.truth else None,
                "note": problem_note(record.problems if record else ()),
            }
        )
    return sorted(rows, key=lambda row: (row["numbers"] is not None, row["numbers"].held if row["numbers"] else 0.0))
