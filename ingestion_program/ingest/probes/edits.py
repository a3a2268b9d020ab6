"""Cue edits: changes of a clip that neutralise one cue, by rendered copies if there are any, else by operators.

An operator gives a filmed clip the value of other clips, or a random strength: a value shared by all edited clips,
such as no words or one mean brightness, would reveal the edit. The clip's own value is not used, so on average over
the draws the cue carries no information.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from ingest.evidence import CueClaim
from ingest.media.alteration import Slow
from ingest.media.exchange import Outside
from ingest.media.sound import has_sound
from ingest.probes.plan import CueEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np

    from ingest.data import Copy
    from ingest.draws import KeyedRandom
    from ingest.media.alteration import ClipSource
    from ingest.media.exchange import Box

COPY = "copy"
OPERATORS = {
    "voice": "other_voice",
    "words": "other_words",
    "motion": "slow",
    "lighting": "relight",
    "framing": "reframe",
    "face": "hide_face",
    "background": "hide_background",
}
"""The operator that neutralises each cue of a filmed clip."""
LENDERS = 3
"""Other clips whose median brightness a relit clip gets: a median is not unusual."""
ZOOMS = (1.1, 1.4)
"""Smallest and largest enlargement of a reframed clip."""
PACES = (0.05, 0.3)
"""Smallest and largest share of a clip that is slowed down to replace the whole."""
HIDING = ("imputation", "blur")
"""Operators that may hide a face or a background; the others would leave it visible."""


def claims_of(evidence: Mapping[str, Any] | None) -> tuple[CueClaim, ...]:
    """Return what recorded evidence claims about cues."""
    return tuple(CueClaim(**claim) for claim in (evidence or {}).get("cues") or ())


def choose_edits(
    clip_id: str,
    claims: Sequence[CueClaim],
    copies: Sequence[Copy],
    cues: Sequence[str],
    transcript: str,
    face: Box | None,
    draws: KeyedRandom,
) -> list[CueEdit]:
    """Return the edits of one clip, the most dispensable one last.

    If a clip has rendered copies, exactly these are used, so that the test does not depend on the claims. Otherwise,
    the cue with the largest claimed contribution to any target comes first, and the others in a drawn order.
    """
    if copies:
        return [CueEdit(cue, COPY) for cue in draws.order((copy.cue for copy in copies), "edits", clip_id)]
    applicable = [
        cue
        for cue in cues
        if cue in OPERATORS
        and (cue != "words" or transcript.strip())
        and (cue not in {"face", "background"} or face is not None)
    ]
    order = draws.order(applicable, "edits", clip_id)
    sizes = dict.fromkeys(order, 0.0)
    for claim in claims:
        if claim.cue in sizes:
            sizes[claim.cue] = max(sizes[claim.cue], abs(claim.contribution))
    first = max(order, key=sizes.__getitem__, default=None)
    if first is not None and sizes[first] > 0:
        order.remove(first)
        order.insert(0, first)
    return [CueEdit(cue, OPERATORS[cue]) for cue in order]


def edit(
    operator: str,
    clip: ClipSource,
    others: Iterable[ClipSource],
    face: Box | None,
    light: Callable[[ClipSource], float | None],
    random: np.random.Generator,
) -> tuple[str, dict[str, Any]]:
    """Return the transcript and the fields of the `Alteration` that make an edit.

    If no other clip has what is needed, the clip is not changed.

    `others`: the other clips of the phase, in a drawn order. `light`: mean brightness of a clip, 0 to 1; None where it
    cannot be decoded.
    """
    words, fields = clip.transcript, dict[str, Any]()
    match operator:
        case "other_words":
            own = words.split()
            words = next((lender.transcript for lender in others if lender.transcript.split() not in ([], own)), words)
        case "other_voice" if has_sound(clip.path):
            fields["voice"] = next((lender.path for lender in others if has_sound(lender.path)), None)
        case "slow":
            fields["slow"] = Slow(float(random.random()), float(random.uniform(*PACES)))
        case "relight":
            lights = [lit for _, lit in zip(range(LENDERS), filter(None, map(light, others)), strict=False)]
            fields["brightness"] = min(max(median(lights), 0.01), 0.99) if lights else None
        case "reframe":
            fields["zoom"] = float(random.uniform(*ZOOMS))
        case "hide_face" if face is not None:
            fields |= {"region": face, "operator": str(random.choice(HIDING))}
        case "hide_background" if face is not None:
            fields |= {"region": Outside(face), "operator": str(random.choice(HIDING))}
    return words, fields
