"""Dealing clips out to parts: all clips of a source video or person go to one part, and every part has like labels."""

from collections.abc import Mapping, Sequence

import numpy as np

from bundle_tools.adapt.dataset import Clip, Dataset
from bundle_tools.errors import BundleError
from bundle_tools.synth.seeds import stream

NEIGHBOURS = 8
"""Sources that are next to each other by their labels and are dealt in random order."""


def split_by_source(dataset: Dataset, sizes: Mapping[str, int], rest: str, *, seed: int) -> dict[str, tuple[Clip, ...]]:
    """Deal the clips out.

    Sources are put in order of their mean main target, shuffled among neighbours, and each goes to the part that lags
    furthest behind its share: so every part spans all labels, and no person is in two parts.

    Parameters
    ----------
    dataset
        The labelled set.
    sizes
        How many clips each part should have; reached to within the clips of one source.
    rest
        Name of the part that gets all others.
    seed
        Where the random order comes from.

    Returns
    -------
    dict
        Clips by part, in the order of the set; `rest` comes last.

    Raises
    ------
    BundleError
        When there are too few clips or sources.
    """
    families: dict[str, list[Clip]] = {}
    for clip in dataset.clips:
        families.setdefault(clip.source, []).append(clip)
    total, wanted = len(dataset.clips), sum(sizes.values())
    if wanted >= total or len(families) <= len(sizes):
        raise BundleError(
            f"expected more than {wanted} clips of more than {len(sizes)} people or source videos, so that every part "
            f"gets some and {rest} too; found {total} clips of {len(families)}. Ask for smaller parts."
        )
    shares = {name: size / total for name, size in {**sizes, rest: total - wanted}.items()}
    given = dict.fromkeys(shares, 0)
    part_of: dict[str, str] = {}
    dealt = 0
    for source in _order(families, dataset.main, seed):
        dealt += len(families[source])
        # Relative to its share: else the largest part would always lag furthest.
        part = max(shares, key=lambda name: (shares[name] * dealt - given[name]) / shares[name])
        given[part] += len(families[source])
        part_of[source] = part
    parts = {name: tuple(clip for clip in dataset.clips if part_of[clip.source] == name) for name in shares}
    empty = [name for name, clips in parts.items() if not clips]
    if empty:
        raise BundleError(f"no clips are left for {', '.join(empty)}: too few people or source videos. Ask for others.")
    return parts


def _order(families: Mapping[str, Sequence[Clip]], main: int, seed: int) -> list[str]:
    """Put sources in order of their mean label, shuffled among neighbours."""
    draw = stream(seed, "split")
    sources = sorted(families, key=lambda one: (float(np.mean([clip.labels[main] for clip in families[one]])), one))
    shuffled: list[str] = []
    for start in range(0, len(sources), NEIGHBOURS):
        block = sources[start : start + NEIGHBOURS]
        shuffled += [block[at] for at in draw.permutation(len(block))]
    return shuffled
