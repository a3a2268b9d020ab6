"""Splitting clips: all clips of a source video or person go to one part, and labels are spread evenly over parts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import PUBLIC, Clip, Dataset, Part
from bundle_tools.synthetic.seeds import stream

NEIGHBOURS = 8
"""Number of sources with similar labels that are shuffled together."""
TOLERANCE = 0.2
"""How far the size of a part may differ from the requested size without a warning."""


def split_by_source(dataset: Dataset, sizes: Mapping[str, int], *, seed: int) -> tuple[Part, ...]:
    """Split the clips.

    Sources are sorted by their mean main target, shuffled among neighbours, and each goes to the part that is furthest
    behind its share. So every part spans the whole range of labels, and no person is in two parts. A source with more
    clips than a phase should have goes to another part, unless no source is smaller.

    `sizes`: requested number of clips of each phase; met to within the clips of one source.
    `seed`: seed of the random order.
    Returns the phases, and public data with all other clips; clips keep the order of the set.
    Raises BundleError when there are too few clips or sources.
    """
    families: dict[str, list[Clip]] = {}
    for clip in dataset.clips:
        families.setdefault(clip.source, []).append(clip)
    total, wanted = len(dataset.clips), sum(sizes.values())
    if wanted >= total or len(families) <= len(sizes):
        raise BundleError(
            f"expected more than {wanted} clips of more than {len(sizes)} people or source videos, so that every part "
            f"gets some and {PUBLIC} too; found {total} clips of {len(families)}. Ask for smaller parts."
        )
    smallest = min(map(len, families.values()))
    largest = {name: max(size, smallest) for name, size in sizes.items()}
    # Sources too large for any phase become public, which leaves less room for others there.
    part_of = {source: PUBLIC for source, clips in families.items() if len(clips) > max(largest.values())}
    left = total - wanted - sum(len(families[source]) for source in part_of)
    targets = {**sizes, **({PUBLIC: left} if left > 0 else {})}
    given, dealt = dict.fromkeys(targets, 0), 0
    for source in _order(families, dataset.challenge.main, seed):
        if source in part_of:
            continue
        count = len(families[source])
        dealt += count
        # Relative to each part's share: otherwise the largest part would always be furthest behind.
        fitting = [name for name in targets if count <= largest.get(name, count)]
        part = max(fitting, key=lambda name: dealt / sum(targets.values()) - given[name] / targets[name])
        given[part] += count
        part_of[source] = part
    parts = tuple(
        Part(name, tuple(clip for clip in dataset.clips if part_of[clip.source] == name)) for name in (*sizes, PUBLIC)
    )
    empty = [part.name for part in parts if not part.clips]
    if empty:
        raise BundleError(f"no clips are left for {', '.join(empty)}: too few people or source videos. Ask for others.")
    return parts


def off_size(parts: Sequence[Part], sizes: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each part that is far from the requested size."""
    for part in parts:
        size = sizes.get(part.name, len(part.clips))
        if abs(len(part.clips) - size) > TOLERANCE * size:
            yield (
                f"WARNING: {part.name} has {len(part.clips)} clips instead of {size}: all clips of a person or source "
                "video stay together. Ask for another size, or add people."
            )


def _order(families: Mapping[str, Sequence[Clip]], main: int, seed: int) -> list[str]:
    """Sort sources by mean label, shuffled among neighbours."""
    draw = stream(seed, "split")
    sources = sorted(families, key=lambda one: (float(np.mean([clip.labels[main] for clip in families[one]])), one))
    shuffled: list[str] = []
    for start in range(0, len(sources), NEIGHBOURS):
        block = sources[start : start + NEIGHBOURS]
        shuffled += [block[at] for at in draw.permutation(len(block))]
    return shuffled
