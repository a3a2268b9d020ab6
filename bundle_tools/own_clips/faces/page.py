"""The page for checking faces."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from bundle_tools.own_clips.faces.find import FoundFace
from bundle_tools.page import render


def faces_page(phases: Mapping[str, Sequence[FoundFace]]) -> str:
    """Write one page with every clip of every phase; clips without a face come first."""
    cards = {
        name: [
            {"clip": one, "picture": base64.b64encode(one.picture).decode()}
            for one in sorted(found, key=lambda one: (one.box is not None, one.seen / max(1, one.frames)))
        ]
        for name, found in phases.items()
    }
    return render(Path(__file__).parent / "templates", "faces", phases=cards)
