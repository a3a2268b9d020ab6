"""The section on explanations, clip by clip."""

from __future__ import annotations

from dataclasses import replace

from score.errors import Problem
from score.evaluation import ClipNumbers
from score.report.cards import cards
from score.report.content.explanations import ClipRow, Explanations
from score.report.numbers import NONE, number, signed
from score.report.scored import Scored
from score.report.status import STATUS_WORDS
from score.settings import Settings
from score.visible import one_line

_CLIPS_IN_GROUP = 50


def explanations(scored: Scored) -> Explanations:
    """Build the section; without clips where the settings close them."""
    report = scored.settings.report
    return Explanations(
        main_title=scored.settings.main.title,
        shows_clips=report.clips,
        shows_truth=report.truth,
        clip_groups=_clip_groups(scored) if report.clips else (),
        cards=cards(scored.results.folder, scored.outcomes, scored.settings),
    )


def smaller(section: Explanations) -> Explanations | None:
    """Leave out every other explanation, or the last half of the tables of clips; None when nothing is left."""
    if section.cards:
        return replace(section, cards=section.cards[1::2], shortened=True)
    if section.clip_groups:
        return replace(section, clip_groups=section.clip_groups[: len(section.clip_groups) // 2], shortened=True)
    return None


def _clip_groups(scored: Scored) -> tuple[tuple[str, tuple[ClipRow, ...]], ...]:
    rows = [_clip_row(clip, scored) for clip in range(len(scored.outcomes.clip_ids))]
    failed, good = [row for row in rows if not row.good], [row for row in rows if row.good]
    groups = []
    for title, chosen in (("Clips without a prediction", failed), ("Clips with a prediction", good)):
        for start in range(0, len(chosen), _CLIPS_IN_GROUP):
            part = tuple(chosen[start : start + _CLIPS_IN_GROUP])
            groups.append((f"{title}, {start + 1} to {start + len(part)} of {len(chosen)}", part))
    return tuple(groups)


def _clip_row(clip: int, scored: Scored) -> ClipRow:
    outcomes, settings = scored.outcomes, scored.settings
    clip_id, status = outcomes.clip_ids[clip], outcomes.statuses[clip]
    main = settings.names.index(settings.main_target)
    good = status == "ok"
    predicted = float(outcomes.prediction[clip, main]) if good else None
    truth = float(outcomes.truth[clip, main]) if settings.report.truth else None
    judged = scored.evaluation.clips[clip] if scored.evaluation.clips else None
    record = scored.results.clips.get(clip_id)
    return ClipRow(
        clip_id=clip_id,
        status=STATUS_WORDS[status],
        good=good,
        predicted=NONE if predicted is None else number(predicted, 3),
        truth="" if truth is None else number(truth, 3),
        error="" if truth is None or predicted is None else signed(predicted - truth, 3),
        judged_on=judged.target if judged else "",
        axes=_clip_axes(judged, settings),
        note=_note(record.problems if record else ()),
    )


def _clip_axes(judged: ClipNumbers | None, settings: Settings) -> tuple[str, ...]:
    if judged is None:
        return (NONE,) * (5 if settings.report.truth else 4)
    values: list[float | None] = [judged.space, judged.time, judged.claims, judged.text]
    if settings.report.truth:
        values.append(judged.causes)
    return tuple(NONE if value is None else number(value, 2) for value in values)


def _note(problems: tuple[Problem, ...]) -> str:
    if not problems:
        return ""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return one_line(f"{first.code}: {first.found}", 120)[:240] + more
