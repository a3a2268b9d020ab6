"""Opaque names of clips and sources, derived from a secret seed; without it they reveal nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import Clip, Part
from bundle_tools.synthetic.person import opaque_id


@dataclass(frozen=True)
class Named:
    """A clip under its opaque name."""

    clip_id: str
    """Opaque name of the clip."""
    source_id: str
    """Opaque name of its source."""
    part: Part
    """The part it belongs to."""
    clip: Clip
    """The clip itself."""

    @property
    def file(self) -> str:
        """Its path in the organiser's folder."""
        return f"{folder_of(self.part)}/clips/{self.clip_id}.mp4"


def folder_of(part: Part) -> str:
    """Return the path of a part in the organiser's folder."""
    return f"input_data/{part.name}" if part.is_phase else "public_data"


def named(dataset: str, parts: Sequence[Part], seed: int) -> list[Named]:
    """Name every clip and source; the clips of a part are sorted by their names, which reveals nothing.

    Raises
    ------
    BundleError
        When two get the same name, which happens to about one in a thousand sets of 10,000 clips.
    """
    found: list[Named] = []
    for part in parts:
        own = [
            Named(
                opaque_id("c", seed, dataset, "clip", clip.name),
                opaque_id("s", seed, dataset, "source", clip.source),
                part,
                clip,
            )
            for clip in part.clips
        ]
        found += sorted(own, key=lambda one: one.clip_id)
    sources = {one.source_id: one.clip.source for one in found}
    if len({one.clip_id for one in found}) < len(found) or any(
        sources[one.source_id] != one.clip.source for one in found
    ):
        raise BundleError("two clips got the same opaque name by chance. Take another --seed.")
    return found
