"""Which clips the jury sees: all levels of the main target, no person twice, and some on which the finalists differ."""

import random
from collections import Counter
from collections.abc import Mapping

import numpy as np

from bundle_tools.errors import BundleError
from bundle_tools.jury.finalists import Final

LEVELS = 5
DIFFERENT = 2
"""Clips that are taken because the finalists' predictions differ most."""


def choose_clips(final: Final, count: int, seed: str, groups: Mapping[str, tuple[str, ...]] | None = None) -> list[str]:
    """Choose clips by the truth, which no juror sees.

    Fifths of the main target's labels are filled in turn. Where there is a choice, clips that every finalist explained
    come first, and then those whose group is rarest so far; luck decides the rest.

    Parameters
    ----------
    final
        Finalists and clips.
    count
        How many are wanted; at least 2.
    seed
        Any text; the same text gives the same clips.
    groups
        For a clip's id its groups, such as gender and age, if recorded.

    Returns
    -------
    list of str
        Clip ids in the order in which they are shown to the first juror; fewer than wanted where the phase has fewer
        persons.

    Raises
    ------
    BundleError
        If no two clips can be shown.
    """
    luck = random.Random(f"{seed}: clips")  # noqa: S311 - for fairness, not for secrecy
    outcomes = final.finalists[0].outcomes
    main = final.settings.names.index(final.settings.main_target)
    ids = outcomes.clip_ids
    level = dict(zip(ids, _fifths(outcomes.truth[:, main]), strict=True))
    person = dict(zip(ids, outcomes.sources.tolist(), strict=True))
    explained = {
        clip_id: sum(one.outcomes.explanations[at].text_ok for one in final.finalists) for at, clip_id in enumerate(ids)
    }
    usable = [clip_id for clip_id in ids if explained[clip_id] > 1]
    luck.shuffle(usable)
    spread = np.nanstd(np.stack([one.outcomes.prediction[:, main] for one in final.finalists]), axis=0)
    differing = sorted(usable, key=lambda clip_id: -spread[ids.index(clip_id)])
    chosen: list[str] = []
    persons: set[int] = set()
    seen: Counter[str] = Counter()

    def take(clip_id: str) -> None:
        chosen.append(clip_id)
        persons.add(person[clip_id])
        seen.update((groups or {}).get(clip_id, ()))

    def rarity(clip_id: str) -> tuple[int, int]:
        return -explained[clip_id], sum(seen[name] for name in (groups or {}).get(clip_id, ()))

    for clip_id in differing:
        if len(chosen) < min(DIFFERENT, count) and person[clip_id] not in persons:
            take(clip_id)
    while len(chosen) < count:
        filled = Counter(level[clip_id] for clip_id in chosen)
        left = [clip_id for clip_id in usable if person[clip_id] not in persons]
        if not left:
            break
        emptiest = min({level[clip_id] for clip_id in left}, key=lambda one: (filled[one], one))
        take(min((clip_id for clip_id in left if level[clip_id] == emptiest), key=rarity))
    if len(chosen) < 2:
        raise BundleError("Expected at least two clips, of two persons, that two finalists explained.")
    luck.shuffle(chosen)
    return chosen


def _fifths(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[int]:
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return [int(rank * LEVELS // len(values)) for rank in ranks]
