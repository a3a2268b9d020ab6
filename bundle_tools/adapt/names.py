"""Opaque names of clips and sources: they follow from a secret seed and say nothing without it."""

from collections.abc import Mapping
from dataclasses import dataclass

from bundle_tools.adapt.dataset import Dataset
from bundle_tools.errors import BundleError
from bundle_tools.synth.seeds import opaque_id


@dataclass(frozen=True)
class Names:
    """Opaque names of one set."""

    clips: Mapping[str, str]
    """By true name of the clip."""
    sources: Mapping[str, str]
    """By true name of the source."""


def opaque_names(dataset: Dataset, seed: int) -> Names:
    """Give every clip and source a name that says nothing without the seed.

    Raises
    ------
    BundleError
        When two get the same name, which happens to one set of 10,000 clips in a thousand.
    """
    clips = {clip.name: opaque_id("c", seed, dataset.name, "clip", clip.name) for clip in dataset.clips}
    sources = {clip.source: opaque_id("s", seed, dataset.name, "source", clip.source) for clip in dataset.clips}
    if len(set(clips.values())) < len(clips) or len(set(sources.values())) < len(sources):
        raise BundleError("two clips got the same opaque name by chance. Take another --seed.")
    return Names(clips, sources)
