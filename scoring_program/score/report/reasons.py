"""Right for the right reason: a small table of four counts. Shown where true values are open, never scored."""

from __future__ import annotations

from score.diagnostics.reasons import GROUNDED
from score.report.content.explanations import ReasonRow, Reasons
from score.report.numbers import counted, percent
from score.report.scored import Scored


def reasons(scored: Scored) -> Reasons | None:
    """Build the table; None without known causes, and where true values are closed."""
    found, settings = scored.evaluation.reasons, scored.settings
    if found is None:
        return None
    clips = found.clips
    return Reasons(
        sentence=(
            f"Right: {settings.main.title} is off by less than {percent(settings.explanation.gate)} of its range. "
            f"Grounded: the claims about it agree with the known causes by {GROUNDED:g} or more, where 0 is chance "
            "and 1 exact. In no score."
        ),
        rows=(
            ReasonRow("Right", counted(found.right_grounded, clips), counted(found.right_ungrounded, clips)),
            ReasonRow("Wrong", counted(found.wrong_grounded, clips), counted(found.wrong_ungrounded, clips)),
        ),
    )
