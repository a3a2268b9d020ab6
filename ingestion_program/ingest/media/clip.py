"""A clip as it is served to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.media.altered.alteration import Alteration


@dataclass(frozen=True)
class ClipSource:
    """One clip on disk, or what a model is shown instead."""

    clip_id: str
    """Opaque id."""
    path: Path
    transcript: str
    """What is said; may be empty."""
    sha256: str = ""
    """Hash of the file when the run began."""
    alteration: Alteration | None = None
    """Changes made while it is served; None shows the file as it is."""
