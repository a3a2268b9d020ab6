"""What to do about a low axis, and the figures that say so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from score.diagnostics.shortfalls import Shortfalls
from score.report.numbers import percent

_NOTABLE = 0.1
"""Share below which a shortfall is not worth a sentence."""


class _Reason(NamedTuple):
    """Why an axis may be low."""

    shortfall: str
    """Which share of `Shortfalls` says so."""
    do: str
    """What to do."""
    why: str
    """What the share is of."""


_NO_SPACE = _Reason(
    "no_space", "Return a map of where the model looked, for every clip.", "of the clips have no valid map."
)
_NO_TIME = _Reason("no_time", "Say when the model saw it, for every clip.", "of the clips have no valid seconds.")
_NO_CLAIMS = _Reason(
    "no_claims", "Claim which cues moved the prediction, for every clip.", "of the clips have no claim."
)
_REASONS = {
    "faithfulness_space": (
        _NO_SPACE,
        _Reason(
            "space_reversed",
            "Point your map at what the prediction hangs on.",
            "of the maps are upside down, or at chance: what they mark moved the prediction no more than the rest.",
        ),
        _Reason(
            "space_foreign",
            "Make each map about its own clip.",
            "of the maps are no better than the average of the others: another clip's would do as well.",
        ),
    ),
    "faithfulness_time": (
        _NO_TIME,
        _Reason(
            "time_reversed",
            "Name the seconds that the prediction hangs on.",
            "of the timelines are upside down, or at chance: what they mark moved the prediction no more than the "
            "rest.",
        ),
        _Reason(
            "time_foreign",
            "Make each timeline about its own clip.",
            "of the timelines are no better than the average of the others: another clip's would do as well.",
        ),
    ),
    "cue_claims": (
        _NO_CLAIMS,
        _Reason(
            "wrong_sign",
            "Turn claims around that say the opposite of what the model does.",
            "of the claims that were tried have the wrong sign: without the cue the prediction moved the other way.",
        ),
        _Reason(
            "no_effect",
            "Do not claim cues that the model does not use.",
            "of the claims that were tried have no effect: without the cue the prediction stayed where it was.",
        ),
        _Reason(
            "silent",
            "Name all cues that the model uses.",
            "of the cues whose removal moved a prediction are not claimed.",
        ),
    ),
    "known_causes": (_NO_CLAIMS, _NO_SPACE, _NO_TIME),
    "text": (
        _Reason(
            "invalid_text",
            "Write plain sentences that pass the published tests of a text.",
            "of the texts are not valid.",
        ),
        _Reason(
            "contradicting",
            "Say in every text how high the predicted value is, in agreement with the prediction.",
            "of the texts name no level, or another one than predicted.",
        ),
        _Reason(
            "disagreeing",
            "Let the text name the cues that the evidence names.",
            "of the texts name other cues than the largest of the evidence.",
        ),
        _Reason(
            "unstable",
            "Keep a text the same when the clip is hardly changed.",
            "of what is claimed changes when a clip is shifted by a pixel or two.",
        ),
        _Reason(
            "between",
            "Write about this clip: claims that fit every clip say nothing.",
            "of what is claimed is the same for other clips.",
        ),
    ),
}
"""By axis; what makes others pointless comes first."""
_OTHERWISE = {
    "faithfulness_space": "Sharpen the map: rank the few places first that the prediction hangs on.",
    "faithfulness_time": "Sharpen the timeline: rank the seconds first that the prediction hangs on.",
    "cue_claims": "Bring the sizes of the claims in proportion to what each cue does to the prediction.",
    "known_causes": "Learn the rule behind the labels: claims and maps should name what made them.",
    "text": "Name the largest claims, and only these, in every text.",
}


def axis_advice(axis: str, found: Shortfalls) -> tuple[str, str]:
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
    share, reason = max(_notable(axis, found), key=lambda one: one[0], default=(0.0, None))
    return (reason.do, f"{percent(share)} {reason.why}") if reason else (_OTHERWISE[axis], "")


def _notable(axis: str, found: Shortfalls) -> Iterator[tuple[float, _Reason]]:
    for reason in _REASONS[axis]:
        share = getattr(found, reason.shortfall)
        if share is not None and reason.shortfall == "between":
            share = 1 - share  # a distance: none means one text for all
        if share is not None and share >= _NOTABLE:
            yield share, reason
