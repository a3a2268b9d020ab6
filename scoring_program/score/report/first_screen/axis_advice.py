"""Advice on a low axis, with the figures behind it."""

from score.diagnostics.shortfalls import Shortfalls
from score.report.numbers import percent

_NOTABLE = 0.1
"""Share below which a shortfall is not worth a sentence."""


_SAYS = {
    "no_space": ("Return a map of where the model looked for every clip.", "of the clips have no valid map."),
    "space_reversed": (
        "Point your map at the places that drive the prediction.",
        "of the maps are at or below chance: the places they mark moved the prediction no more than the rest.",
    ),
    "space_usual": (
        "Make each map specific to its clip.",
        "of the maps are no better than one order of the parts for all clips.",
    ),
    "no_time": ("Return a timeline for every clip.", "of the clips have no valid timeline."),
    "time_reversed": (
        "Point your timeline at the seconds that drive the prediction.",
        "of the timelines are at or below chance: the seconds they mark moved the prediction no more than the rest.",
    ),
    "time_usual": (
        "Make each timeline specific to its clip.",
        "of the timelines are no better than one order of the parts for all clips.",
    ),
    "no_claims": ("Claim which cues moved the prediction for every clip.", "of the clips have no claim."),
    "wrong_sign": (
        "Correct the sign of claims that say the opposite of what the model does.",
        "of the tested claims have the wrong sign: without the cue, the prediction moved the other way.",
    ),
    "no_effect": (
        "Do not claim cues that the model does not use.",
        "of the tested claims have no effect: without the cue, the prediction stayed the same.",
    ),
    "silent": (
        "Name all cues that the model uses.",
        "of the cues whose removal moved a prediction are not claimed.",
    ),
    "invalid_text": (
        "Write plain sentences that pass the published text checks.",
        "of the texts are not valid.",
    ),
    "contradicting": (
        "State in every text how high the prediction is, and state it correctly.",
        "of the texts state no level, or one that differs from the prediction.",
    ),
    "disagreeing": (
        "Name the largest cues of the evidence in the text.",
        "of the texts name cues other than the largest of the evidence.",
    ),
    "unstable": (
        "Keep the text stable when the clip barely changes.",
        "of the claims change when a clip is shifted by a pixel or two.",
    ),
    "between": (
        "Write about this clip: claims that fit every clip score nothing.",
        "of the claims are the same for other clips.",
    ),
}
"""For each share in `Shortfalls`: what to do, and what the share describes."""
_REASONS = {
    "faithfulness_space": ("no_space", "space_reversed", "space_usual"),
    "faithfulness_time": ("no_time", "time_reversed", "time_usual"),
    "cue_claims": ("no_claims", "wrong_sign", "no_effect", "silent"),
    "known_causes": ("no_claims", "no_space", "no_time"),
    "text": ("invalid_text", "contradicting", "disagreeing", "unstable", "between"),
}
"""By axis, the shares that explain a low score, the most basic first."""
_OTHERWISE = {
    "faithfulness_space": "Sharpen the map: rank the few places that drive the prediction first.",
    "faithfulness_time": "Sharpen the timeline: rank the few seconds that drive the prediction first.",
    "cue_claims": "Make each claim's size proportional to the cue's effect on the prediction.",
    "known_causes": "Point to what actually causes the labels: claims and maps often name other cues.",
    "text": "Name the largest claims, and only those, in every text.",
}


def axis_advice(axis: str, found: Shortfalls) -> tuple[str, str]:
    """Choose the reason with the largest share of clips or claims; the first one if shares are equal.

    Returns what to do, in one sentence, and the figure behind it; the figure is empty if no share stands out.
    """
    shares = {name: getattr(found, name) for name in _REASONS[axis]}
    if shares.get("between") is not None:
        shares["between"] = 1 - shares["between"]  # this is a distance, and 0 means one text for all
    notable = {name: share for name, share in shares.items() if share is not None and share >= _NOTABLE}
    if not notable:
        return _OTHERWISE[axis], ""
    name = max(notable, key=lambda one: notable[one])
    do, why = _SAYS[name]
    return do, f"{percent(notable[name])} {why}"
