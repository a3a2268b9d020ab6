"""What to do about a low axis, and the figures that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from score.diagnostics.shortfalls import Share, Shortfalls
from score.report.numbers import percent

_NOTABLE = 0.1
"""Share below which a shortfall is not worth a sentence."""

Reason = tuple[str, str]
"""What to do, and the figure that says so."""


def axis_advice(axis: str, found: Shortfalls) -> Reason:
    """Choose the reason that holds for the largest share of the clips or claims; of equal shares the first.

    Parameters
    ----------
    axis
        Key of its column.
    found
        Where the explanations lose points.

    Returns
    -------
    tuple
        What to do, in one sentence, and the figure behind it; the figure is empty where no share stands out.
    """
    reasons = [(share, do, why) for share, do, why in _REASONS[axis](found) if share is not None and share >= _NOTABLE]
    if not reasons:
        return _OTHERWISE[axis], ""
    share, do, why = max(reasons, key=lambda reason: reason[0])
    return do, f"{percent(share)} {why}"


Reasons = Iterable[tuple[Share, str, str]]
"""(share, what to do, what the share is of); what makes others pointless comes first."""


def _space(found: Shortfalls) -> Reasons:
    yield found.no_space, "Return a map of where the model looked, for every clip.", "of the clips have no valid map."
    yield (
        found.space_reversed,
        "Point your map at what the prediction hangs on.",
        "of the maps are upside down, or at chance: what they mark moved the prediction no more than the rest.",
    )
    yield (
        found.space_foreign,
        "Make each map about its own clip.",
        "of the maps are no better than the average of the others: another clip's would do as well.",
    )


def _time(found: Shortfalls) -> Reasons:
    yield found.no_time, "Say when the model saw it, for every clip.", "of the clips have no valid seconds."
    yield (
        found.time_reversed,
        "Name the seconds that the prediction hangs on.",
        "of the timelines are upside down, or at chance: what they mark moved the prediction no more than the rest.",
    )
    yield (
        found.time_foreign,
        "Make each timeline about its own clip.",
        "of the timelines are no better than the average of the others: another clip's would do as well.",
    )


def _claims(found: Shortfalls) -> Reasons:
    yield found.no_claims, "Claim which cues moved the prediction, for every clip.", "of the clips have no claim."
    yield (
        found.wrong_sign,
        "Turn claims around that say the opposite of what the model does.",
        "of the claims that were tried have the wrong sign: without the cue the prediction moved the other way.",
    )
    yield (
        found.no_effect,
        "Do not claim cues that the model does not use.",
        "of the claims that were tried have no effect: without the cue the prediction stayed where it was.",
    )
    yield (
        found.silent,
        "Name all cues that the model uses.",
        "of the cues whose removal moved a prediction are not claimed.",
    )


def _causes(found: Shortfalls) -> Reasons:
    yield found.no_claims, "Claim which cues moved the prediction, for every clip.", "of the clips have no claim."
    yield found.no_space, "Return a map of where the model looked, for every clip.", "of the clips have no valid map."
    yield found.no_time, "Say when the model saw it, for every clip.", "of the clips have no valid seconds."


def _text(found: Shortfalls) -> Reasons:
    yield (
        found.invalid_text,
        "Write plain sentences that pass the published tests of a text.",
        "of the texts are not valid.",
    )
    yield (
        found.contradicting,
        "Say in every text how high the predicted value is, in agreement with the prediction.",
        "of the texts name no level, or another one than predicted.",
    )
    yield (
        found.disagreeing,
        "Let the text name the cues that the evidence names.",
        "of the texts name other cues than the largest of the evidence.",
    )
    yield (
        found.unstable,
        "Keep a text the same when the clip is hardly changed.",
        "of what is claimed changes when a clip is shifted by a pixel or two.",
    )
    if found.between is not None:
        yield (
            1 - found.between,
            "Write about this clip: claims that fit every clip say nothing.",
            "of what is claimed is the same for other clips.",
        )


_REASONS: dict[str, Callable[[Shortfalls], Reasons]] = {
    "faithfulness_space": _space,
    "faithfulness_time": _time,
    "cue_claims": _claims,
    "known_causes": _causes,
    "text": _text,
}
_OTHERWISE = {
    "faithfulness_space": "Sharpen the map: rank the few places first that the prediction hangs on.",
    "faithfulness_time": "Sharpen the timeline: rank the seconds first that the prediction hangs on.",
    "cue_claims": "Bring the sizes of the claims in proportion to what each cue does to the prediction.",
    "known_causes": "Learn the rule behind the labels: claims and maps should name what made them.",
    "text": "Name the largest claims, and only these, in every text.",
}
