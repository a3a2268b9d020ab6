"""The table of all clips."""

from __future__ import annotations

from score.errors import Problem
from score.evaluation.clip_numbers import ClipNumbers
from score.report.content.explanations import ClipRow
from score.report.numbers import NONE, number, signed
from score.report.scored import Scored
from score.report.status import STATUS_WORDS
from score.report.verdict import WORDS, clip_state
from score.settings import Settings
from score.visible import one_line


def clip_rows(scored: Scored) -> tuple[ClipRow, ...]:
    """List all clips: those without a prediction first, then by what held up least; none where clips are closed."""
    if not scored.settings.report.clips:
        return ()
    judged = scored.evaluation.clips or (None,) * len(scored.outcomes.clip_ids)
    order = sorted(range(len(judged)), key=lambda clip: _rank(judged[clip]))
    return tuple(_row(clip, judged[clip], scored) for clip in order)


def _rank(numbers: ClipNumbers | None) -> tuple[bool, float]:
    return (numbers is not None, numbers.held if numbers else 0.0)


def _row(clip: int, numbers: ClipNumbers | None, scored: Scored) -> ClipRow:
    outcomes, settings = scored.outcomes, scored.settings
    clip_id, status = outcomes.clip_ids[clip], outcomes.statuses[clip]
    main = settings.names.index(settings.main_target)
    good = status == "ok"
    predicted = float(outcomes.prediction[clip, main]) if good else None
    truth = float(outcomes.truth[clip, main]) if settings.report.truth else None
    state = clip_state(numbers) if numbers else ""
    record = scored.results.clips.get(clip_id)
    return ClipRow(
        clip_id=clip_id,
        status=STATUS_WORDS[status],
        good=good,
        predicted=NONE if predicted is None else number(predicted, 3),
        truth="" if truth is None else number(truth, 3),
        error="" if truth is None or predicted is None else signed(predicted - truth, 3),
        judged_on=settings.targets[numbers.target].title if numbers else "",
        state=state,
        verdict=WORDS[state][0] if state else NONE,
        held=number(numbers.held, 2) if numbers and state != "none" else NONE,
        axes=_axes(numbers, settings),
        note=note(record.problems if record else ()),
    )


def _axes(numbers: ClipNumbers | None, settings: Settings) -> tuple[str, ...]:
    if numbers is None:
        return (NONE,) * (5 if settings.report.truth else 4)
    values: list[float | None] = [numbers.space, numbers.time, numbers.claims, numbers.text]
    if settings.report.truth:
        values.append(numbers.causes)
    return tuple(NONE if value is None else number(value, 2) for value in values)


def note(problems: tuple[Problem, ...]) -> str:
    """Tell the first of a clip's problems in one line; an empty text where there is none."""
    if not problems:
        return ""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return one_line(f"{first.code}: {first.found}", 120)[:240] + more
