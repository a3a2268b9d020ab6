"""Cue edits: changes of a clip that neutralise one cue. Rendered copies where there are some, else operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.probes.plan import CueEdit
from ingest.probes.region import Outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.evidence import CueClaim
    from ingest.probes.copies import Copy
    from ingest.probes.draws import Draws
    from ingest.probes.region import Box

COPY = "copy"
OPERATORS = {
    "voice": "mute",
    "words": "no_words",
    "motion": "freeze",
    "lighting": "relight",
    "framing": "reframe",
    "face": "hide_face",
    "background": "hide_background",
}
"""What neutralises a cue of a clip that was filmed."""
BRIGHTNESS = 0.4
"""Mean brightness of every relit clip, about that of a face in a living room."""
ZOOM = 1.25
"""How much larger every reframed clip shows its middle."""


def choose_edits(
    clip_id: str,
    claims: Sequence[CueClaim],
    copies: Sequence[Copy],
    cues: Sequence[str],
    transcript: str,
    face: Box | None,
    draws: Draws,
) -> list[CueEdit]:
    """Return the edits of one clip, the one to leave out first at the end.

    A clip with rendered copies has exactly these, so that what is tested does not depend on what is claimed. Without
    copies the cue with the largest claimed contribution to any target comes first, and the others in a drawn order.

    Parameters
    ----------
    claims
        The recorded claims about this clip.
    cues
        The task's vocabulary.
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


def changes(operator: str, face: Box | None) -> dict[str, Any]:
    """Return the fields of an `Alteration` that carry out an edit; `no_words` changes the transcript alone."""
    match operator:
        case "mute":
            return {"mute": True}
        case "freeze":
            return {"still": True}
        case "relight":
            return {"brightness": BRIGHTNESS}
        case "reframe":
            return {"zoom": ZOOM}
        case "hide_face" if face is not None:
            return {"region": face, "operator": "imputation"}
        case "hide_background" if face is not None:
            return {"region": Outside(face), "operator": "imputation"}
        case _:
            return {}
