"""The gallery: a few explanations, shown whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from score.errors import NotGradableError
from score.explanation_record import Claim, Explanation
from score.manifest import ResultsFolder
from score.outcomes import Outcomes
from score.report.content.explanations import Card, ClaimRow, Grid, Mark, ValueRow
from score.report.picture import data_uri
from score.settings import Settings
from score.visible import one_line, visible

_LONGEST_TEXT = 5000
_MOST_CLAIMS = 24
_MOST_CELLS = 1024
_PICTURE_BUDGET = 2_500_000  # characters; with the table of 2,000 clips the page stays under 5 MB


def cards(folder: ResultsFolder, outcomes: Outcomes, settings: Settings) -> tuple[Card, ...]:
    """Choose and prepare the gallery.

    The choice spreads over the predicted main target from lowest to highest. It must not depend on labels: which
    clips are shown would tell something about them.
    """
    if not settings.report.clips:
        return ()
    main = settings.names.index(settings.main_target)
    predicted = [number for number, status in enumerate(outcomes.statuses) if status == "ok"]
    predicted.sort(key=lambda number: (outcomes.prediction[number, main], outcomes.clip_ids[number]))
    count = min(settings.report.gallery, len(predicted))
    places = np.unique(np.linspace(0, max(0, len(predicted) - 1), count).round().astype(int))
    budget = _PICTURE_BUDGET
    result = []
    for place in places:
        number = predicted[place]
        image, reason = _picture(folder, outcomes.explanations[number], budget)
        budget -= len(image)
        result.append(_card(number, image, reason, outcomes, settings))
    return tuple(result)


def _picture(folder: ResultsFolder, explanation: Explanation, budget: int) -> tuple[str, str]:
    """Return the picture's URI, or an empty text and the reason."""
    if explanation.image is None:
        return "", "No picture was given."
    try:
        uri = data_uri(folder.read(explanation.image))
    except (NotGradableError, OSError):
        uri = None
    if uri is None:
        return "", "The picture could not be read."
    return (uri, "") if len(uri) <= budget else ("", "Left out to keep this page small.")


def _card(number: int, image: str, no_image: str, outcomes: Outcomes, settings: Settings) -> Card:
    explanation = outcomes.explanations[number]
    truth = outcomes.truth[number] if settings.report.truth else None
    longest = min(settings.text.maximum_chars, _LONGEST_TEXT)
    return Card(
        clip_id=outcomes.clip_ids[number],
        image=image,
        no_image=no_image,
        text=visible(explanation.text.strip(), longest),
        text_ok=explanation.text_ok,
        values=_values(outcomes.prediction[number], truth, settings),
        claims=_claims(explanation.claims, settings),
        space=_grid(explanation.space, "Where the model looked"),
        time=_grid(_strip(explanation.time), "When the model looked"),
    )


def _values(
    prediction: NDArray[np.float64], truth: NDArray[np.float64] | None, settings: Settings
) -> tuple[ValueRow, ...]:
    rows = []
    for number, target in enumerate(settings.targets):
        span = target.maximum - target.minimum
        label = None if truth is None else float(truth[number])
        rows.append(
            ValueRow(
                title=target.title,
                value=f"{prediction[number]:.2f}",
                position=round(100 * (float(prediction[number]) - target.minimum) / span, 1),
                truth="" if label is None else f"{label:.2f}",
                truth_position=None if label is None else round(100 * (label - target.minimum) / span, 1),
            )
        )
    return tuple(rows)


def _claims(claims: tuple[Claim, ...], settings: Settings) -> tuple[ClaimRow, ...]:
    titles = {target.name: target.title for target in settings.targets}
    largest = sorted(claims, key=lambda claim: -abs(claim.contribution))[:_MOST_CLAIMS]
    return tuple(
        ClaimRow(
            cue=one_line(claim.cue, 40),
            target=titles[claim.target],
            contribution=f"{claim.contribution:+.2f}",
            raised=claim.contribution > 0,
            width=round(100 * abs(claim.contribution), 1),
        )
        for claim in largest
    )


def _strip(time: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Temporal evidence as a grid of one row, at most 120 columns wide."""
    if time is None:
        return None
    parts = np.array_split(time, min(len(time), 120))
    return np.array([[part.mean() for part in parts]])


def _grid(weights: NDArray[np.float64] | None, title: str) -> Grid | None:
    if weights is None or weights.size > _MOST_CELLS:
        return None
    rows, columns = weights.shape
    shares = weights / weights.max()
    marks = tuple(Mark(x, y, f"{share:.1f}") for (y, x), share in np.ndenumerate(shares) if share >= 0.05)
    y, x = np.unravel_index(int(shares.argmax()), shares.shape)
    place = f"column {x + 1} of {columns}" + (f", row {y + 1} of {rows}" if rows > 1 else "")
    return Grid(rows, columns, marks, f"{title}: strongest in {place}")
