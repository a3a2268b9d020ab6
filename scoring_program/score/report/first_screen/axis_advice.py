"""What to do about a low axis, and the figures that say so."""

from __future__ import annotations

from score.diagnostics.shortfalls import Shortfalls
from score.report.numbers import percent

_NOTABLE = 0.1
"""Share below which a shortfall is not worth a sentence."""


_SAYS = {
    "no_space": ("Return a map of where the model looked, for every clip.", "of the clips have no valid map."),
    "space_reversed": (
        "Point your map at what the prediction hangs on.",
        "of the maps are upside down, or at chance: what they mark moved the prediction no more than the rest.",
    ),
    "space_foreign": (
        "Make each map about its own clip.",
        "of the maps are no better than the average of the others: another clip's would do as well.",
    ),
    "no_time": ("Say when the model saw it, for every clip.", "of the clips have no valid seconds."),
    "time_reversed": (
        "Name the seconds that the prediction hangs on.",
        "of the timelines are upside down, or at chance: what they mark moved the prediction no more than the rest.",
    ),
    "time_foreign": (
        "Make each timeline about its own clip.",
        "of the timelines are no better than the average of the others: another clip's would do as well.",
    ),
    "no_claims": ("Claim which cues moved the prediction, for every clip.", "of the clips have no claim."),
    "wrong_sign": (
        "Turn claims around that say the opposite of what the model does.",
        "of the claims that were tried have the wrong sign: without the cue the prediction moved the other way.",
    ),
    "no_effect": (
        "Do not claim cues that the model does not use.",
        "of the claims that were tried have no effect: without the cue the prediction stayed where it was.",
    ),
    "silent": (
        "Name all cues that the model uses.",
        "of the cues whose removal moved a prediction are not claimed.",
    ),
    "invalid_text": (
        "Write plain sentences that pass the published tests of a text.",
        "of the texts are not valid.",
    ),
    "contradicting": (
        "Say in every text how high the predicted value is, in agreement with the prediction.",
        "of the texts name no level, or another one than predicted.",
    ),
    "disagreeing": (
        "Let the text name the cues that the evidence names.",
        "of the texts name other cues than the largest of the evidence.",
    ),
    "unstable": (
        "Keep a text the same when the clip is hardly changed.",
        "of what is claimed changes when a clip is shifted by a pixel or two.",
    ),
    "between": (
        "Write about this clip: claims that fit every clip say nothing.",
        "of what is claimed is the same for other clips.",
    ),
}
"""By share of `Shortfalls`: what to do, and what the share is of."""
_REASONS = {
    "faithfulness_space": ("no_space", "space_reversed", "space_foreign"),
    "faithfulness_time": ("no_time", "time_reversed", "time_foreign"),
    "cue_claims": ("no_claims", "wrong_sign", "no_effect", "silent"),
    "known_causes": ("no_claims", "no_space", "no_time"),
    "text": ("invalid_text", "contradicting", "disagreeing", "unstable", "between"),
}
"""By axis, the shares that say why it may be low; what makes others pointless comes first."""
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
    shares = {name: getattr(found, name) for name in _REASONS[axis]}
    if shares.get("between") is not None:
        shares["between"] = 1 - shares["between"]  # a distance: none means one text for all
    notable = {name: share for name, share in shares.items() if share is not None and share >= _NOTABLE}
    if not notable:
        return _OTHERWISE[axis], ""
    name = max(notable, key=lambda one: notable[one])
    do, why = _SAYS[name]
    return do, f"{percent(notable[name])} {why}"
