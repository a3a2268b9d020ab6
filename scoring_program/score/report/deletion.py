"""Deletion curves: the more of what is marked is hidden, the more should change. Shown, never scored."""

from __future__ import annotations

from score.axes.dose import DeletionCurve
from score.report.content.explanations import DeletionPlot, DosePoint, DoseRow
from score.report.numbers import number, percent

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 300, 12, 126
"""Edges of the plot in a drawing of 320 x 150."""
_TITLES = {"space": "Places", "time": "Seconds"}
_FLAGS = {
    True: "A larger dose did clearly less than a smaller one: a sign that the model notices the hiding itself.",
    False: "No larger dose did clearly less than a smaller one.",
    None: "Too few clips to compare doses.",
}
_ROUND_STEPS = (1, 2, 2.5, 5, 10)


def deletion_plot(curve: DeletionCurve) -> DeletionPlot | None:
    """Draw one curve; None where nothing was measured."""
    if not curve.doses:
        return None
    highest = _ceiling(max(max(dose.top + dose.top_error, dose.bottom) for dose in curve.doses))
    widest = max(0.1, *(dose.share for dose in curve.doses))

    def x(share: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * share / widest, 1)

    def y(change: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * max(0.0, change) / highest, 1)

    title = _TITLES[curve.kind]
    first, last = curve.doses[0], curve.doses[-1]
    label = (
        f"{title}: hiding {percent(first.share)} of what is marked most changed the prediction by "
        f"{percent(first.top, 1)} of its range, hiding {percent(last.share)} by {percent(last.top, 1)}; "
        f"of what is marked least by {percent(first.bottom, 1)} and {percent(last.bottom, 1)}."
    )
    return DeletionPlot(
        title=title,
        top=tuple(
            DosePoint(x(dose.share), y(dose.top), y(dose.top - dose.top_error), y(dose.top + dose.top_error))
            for dose in curve.doses
        ),
        bottom=tuple(DosePoint(x(dose.share), y(dose.bottom), None, None) for dose in curve.doses),
        y_ticks=tuple((y(highest * part), percent(highest * part, 1)) for part in (0, 0.5, 1)),
        x_ticks=tuple((x(dose.share), percent(dose.share)) for dose in curve.doses),
        label=label,
        flag=_FLAGS[curve.falls],
        rows=tuple(
            DoseRow(
                share=percent(dose.share),
                clips=str(dose.clips),
                top=f"{number(100 * dose.top, 2)} ± {number(100 * dose.top_error, 2)}",
                bottom=number(100 * dose.bottom, 2),
            )
            for dose in curve.doses
        ),
    )


def _ceiling(value: float) -> float:
    """Return the next round number above a value; a scale ends there."""
    power = 1e-4
    while value > 10 * power:
        power *= 10
    return next(step * power for step in _ROUND_STEPS if value <= step * power or step == _ROUND_STEPS[-1])
