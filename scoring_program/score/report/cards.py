"""The gallery: a few explanations, shown whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from score.errors import NotGradableError
from score.evaluation.clip_numbers import ClipNumbers
from score.read.output.explanation_record import Explanation
from score.report.choice import choose
from score.report.claim_table import claim_rows, untested
from score.report.clip_table import note
from score.report.content.explanations import Card, CardGroup, ValueRow
from score.report.hidden_parts import call_rows, place, timeline
from score.report.highlight import highlight
from score.report.numbers import number, position
from score.report.picture import data_uri
from score.report.scored import Scored
from score.report.verdict import verdict
from score.text.reading import vocabulary_of

_BUDGET = 1_500_000
"""Characters of all pictures; with the table of 2,000 clips the page stays under 5 MB."""
_OPEN_AT_ONCE = 3


class _Album:
    """The pictures of a page, as long as there is room."""

    def __init__(self) -> None:
        self._left = _BUDGET

    def take(self, data: bytes) -> str | None:
        """Return a picture's URI; None where it is no picture, an empty text where there is no more room."""
        uri = data_uri(data)
        if uri is None or len(uri) > self._left:
            return uri and ""
        self._left -= len(uri)
        return uri


def card_groups(scored: Scored) -> tuple[CardGroup, ...]:
    """Choose the gallery and prepare it; nothing where the settings close clips."""
    report, outcomes = scored.settings.report, scored.outcomes
    if not report.clips or not scored.evaluation.clips:
        return ()
    judged = scored.evaluation.clips
    held = [one.held if one else None for one in judged]
    chosen = choose(outcomes.clip_ids, held, report.gallery, scored.settings.bootstrap.seed)
    shown = len(chosen.best) + len(chosen.worst) + len(chosen.drawn)
    album = _Album()
    everything = shown == sum(one is not None for one in judged)
    groups = []
    for title, clips in (
        ("What held up best", chosen.best),
        ("What held up least", chosen.worst),
        ("What lies between" if everything else "Drawn by lot", chosen.drawn),
    ):
        cards = tuple(_card(clip, numbers, scored, album) for clip in clips if (numbers := judged[clip]))
        if cards:
            groups.append(CardGroup(title, cards[:_OPEN_AT_ONCE], cards[_OPEN_AT_ONCE:]))
    return tuple(groups)


def _card(clip: int, numbers: ClipNumbers, scored: Scored, album: _Album) -> Card:
    outcomes, settings = scored.outcomes, scored.settings
    clip_id, explanation, calls = outcomes.clip_ids[clip], outcomes.explanations[clip], outcomes.probes[clip]
    target = settings.targets[numbers.target]
    prediction = [float(value) for value in outcomes.prediction[clip]]
    truth = [float(value) for value in outcomes.truth[clip]] if settings.report.truth else None
    claims = claim_rows(numbers, explanation.claims, target)
    titles = {one.name: one.title for one in settings.targets}
    frame, frame_note = _frame(clip_id, scored, album)
    picture, no_picture = _picture(explanation, scored, album)
    return Card(
        clip_id=clip_id,
        judged_on=target.title,
        predicted=number(prediction[numbers.target], 2),
        truth="" if truth is None else number(truth[numbers.target], 2),
        verdict=verdict(numbers, explanation, claims, target),
        frame=frame,
        frame_note=frame_note,
        place=place(explanation, numbers, target),
        timeline=timeline(explanation, numbers, target),
        text=highlight(explanation.text, vocabulary_of(settings), numbers.told, titles),
        claims=claims,
        others=(*untested(numbers, explanation.claims, target), *_trouble(clip_id, scored)),
        picture=picture,
        no_picture=no_picture,
        values=_values(prediction, truth, scored),
        calls=call_rows(explanation, calls, numbers, target),
    )


def _frame(clip_id: str, scored: Scored, album: _Album) -> tuple[str, str]:
    """Return the key frame's URI and what it shows, or an empty text and why there is none."""
    frame = scored.beside.key_frames.read(clip_id)
    uri = album.take(frame.data) if frame else None
    if frame is None or uri is None:
        return "", "There is no picture of this clip."
    return uri, f"The clip at {frame.time_s:.1f} s." if uri else "Left out to keep this page small."


def _trouble(clip_id: str, scored: Scored) -> Iterator[str]:
    """Tell what went wrong with the clip: an explanation that is not there may be one that broke down."""
    record = scored.results.clips.get(clip_id)
    if record and record.problems:
        yield f"Problem: {note(record.problems)}"


def _picture(explanation: Explanation, scored: Scored, album: _Album) -> tuple[str, str]:
    """Return the picture's URI, or an empty text and the reason."""
    if explanation.image is None:
        return "", "No picture was given."
    try:
        uri = album.take(scored.results.folder.read(explanation.image))
    except (NotGradableError, OSError):
        uri = None
    if uri is None:
        return "", "The picture could not be read."
    return uri, "" if uri else "Left out to keep this page small."


def _values(prediction: Sequence[float], truth: Sequence[float] | None, scored: Scored) -> tuple[ValueRow, ...]:
    return tuple(
        ValueRow(
            title=target.title,
            value=number(prediction[place], 2),
            position=position(prediction[place], target.minimum, target.maximum),
            truth="" if truth is None else number(truth[place], 2),
            truth_position=None if truth is None else position(truth[place], target.minimum, target.maximum),
        )
        for place, target in enumerate(scored.settings.targets)
    )
