"""Which clips the jury sees: all levels of the main target, no person twice, and some on which the finalists differ."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bundle_tools.challenge.jury.sheets.finalists import Final
from bundle_tools.errors import BundleError

LEVELS = 5
DIFFERENT = 2
"""Number of clips chosen because the finalists' predictions differ most."""


@dataclass(frozen=True)
class Balance:
    """How evenly the chosen clips are spread."""

    levels: tuple[int, ...]
    """Clips in each fifth of the main target's labels, the lowest first."""
    groups: Mapping[str, Mapping[str, int]]
    """Number of clips by attribute, such as age, and group; empty if the phase names no groups."""


def choose_clips(final: Final, count: int, seed: str) -> list[str]:
    """Choose clips by true values and groups, which jurors do not see.

    Fifths of the main target's labels are filled in turn. If there is a choice, clips that every finalist explained
    come first, then those whose groups (`groups.csv` of the phase) are rarest so far; the rest is random.

    `count`: number of clips wanted, at least 2.
    `seed`: any text; the same text gives the same clips.
    Returns clip ids in the order for the first juror; fewer than wanted if the phase has fewer people.
    Raises BundleError if no two clips can be shown.
    """
    luck = random.Random(f"{seed}: clips")  # noqa: S311 - for fairness, not for secrecy
    outcomes, ids = final.finalists[0].outcomes, final.clip_ids
    level, groups = _levels(final), _groups(final)
    person = dict(zip(ids, outcomes.sources.tolist(), strict=True))
    explained = {
        clip_id: sum(one.outcomes.explanations[at].text_ok for one in final.finalists) for at, clip_id in enumerate(ids)
    }
    usable = [clip_id for clip_id in ids if explained[clip_id] > 1]
    luck.shuffle(usable)
    predicted = np.stack([one.outcomes.prediction[:, final.main] for one in final.finalists])
    differing = sorted(usable, key=lambda clip_id: -np.nanstd(predicted[:, ids.index(clip_id)]))
    chosen: list[str] = []
    persons: set[int] = set()
    seen: Counter[tuple[str, str]] = Counter()

    def take(clip_id: str) -> None:
        chosen.append(clip_id)
        persons.add(person[clip_id])
        seen.update(groups[clip_id])

    def rarity(clip_id: str) -> tuple[int, int]:
        return -explained[clip_id], sum(seen[group] for group in groups[clip_id])

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
        raise BundleError("Expected at least two clips, of two people, that two finalists explained.")
    luck.shuffle(chosen)
    return chosen


def balance_of(final: Final, chosen: Sequence[str]) -> Balance:
    """Count chosen clips by level of the main target, and by group of each attribute that the phase names."""
    level, groups = _levels(final), _groups(final)
    seen = Counter(group for clip_id in chosen for group in groups[clip_id])
    return Balance(
        levels=tuple(sum(level[clip_id] == one for clip_id in chosen) for one in range(LEVELS)),
        groups={
            attribute.name: {value: seen[attribute.name, value] for value in attribute.values}
            for attribute in final.finalists[0].outcomes.known.groups
        },
    )


def _levels(final: Final) -> dict[str, int]:
    """Return the fifth of the main target's labels in which each clip lies, from 0."""
    truth = final.finalists[0].outcomes.truth[:, final.main]
    ranks = np.argsort(np.argsort(truth, kind="stable"), kind="stable")
    return {clip_id: int(rank * LEVELS // len(truth)) for clip_id, rank in zip(final.clip_ids, ranks, strict=True)}


def _groups(final: Final) -> dict[str, list[tuple[str, str]]]:
    """Return for each clip (attribute, group) of its person; empty if the phase names no groups."""
    outcomes = final.finalists[0].outcomes
    return {
        clip_id: [(one.name, one.values[one.member[at]]) for one in outcomes.known.groups]
        for at, clip_id in enumerate(outcomes.clip_ids)
    }
