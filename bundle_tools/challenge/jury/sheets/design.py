"""Who rates what in which order: genuine items, controls among them, and Latin squares."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.jury.criteria import Rules
from bundle_tools.challenge.jury.key import Item, Key, Team
from bundle_tools.challenge.jury.sheets.finalists import Final, Finalist
from score.axes.effects import measure_effects
from score.text import parse_claims
from score.text.reading import vocabulary_of

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_TEAMS = len(LETTERS)


@dataclass(frozen=True)
class ShownItem:
    """An item with what it shows."""

    item: Item
    text: str
    image: tuple[int, str] | None
    """Index of the finalist, and path of the picture in its results."""
    values: tuple[float, ...]
    """Predictions in the order of the targets."""
    cue: str
    """The cue of the question; empty if there is none."""


@dataclass(frozen=True)
class Design:
    """A jury before its pages are written."""

    key: Key
    """For the organiser."""
    shown: dict[str, ShownItem]
    """By item id."""
    orders: tuple[tuple[str, ...], ...]
    """Each juror's item ids, in the order shown."""


def plan(phase: str, final: Final, clips: Sequence[str], jurors: int, rules: Rules, seed: str) -> Design:
    """Lay out a jury.

    `clips`: ids, in the order of the first juror.
    `jurors`: how many sheets, >= 1.
    `seed`: any text; the same text gives the same jury.
    """
    luck = random.Random(f"{seed}: design")  # noqa: S311 - for fairness, not for secrecy
    order = list(range(len(final.finalists)))
    luck.shuffle(order)
    explained = {
        (clip_id, team): final.finalists[number].outcomes.explanations[final.clip_ids.index(clip_id)].text_ok
        for clip_id in clips
        for team, number in enumerate(order)
    }
    genuine = [_genuine(final, order, seed, *place) for place, there in explained.items() if there]
    drawn = luck.sample(genuine, min(rules.controls.boilerplate, len(genuine)))
    texts = rules.boilerplate_texts
    boilerplate = [
        replace(_control("boilerplate", own, seed, effect=""), text=texts[number % len(texts)], cue="")
        for number, own in enumerate(drawn)
    ]
    drawn = luck.sample(genuine, min(round(rules.controls.repeats * len(genuine)), len(genuine)))
    repeats = [_control("repeat", own, seed, effect=own.item.effect) for own in drawn]
    items = [*genuine, *boilerplate, *repeats]
    finalists = [final.finalists[number] for number in order]
    key = Key(
        phase=phase,
        main_target=final.settings.main_target,
        rules_sha256=rules.sha256,
        teams=tuple(
            Team(LETTERS[at], one.name, one.rated_sha256, round(one.total, 2), one.band)
            for at, one in enumerate(finalists)
        ),
        clips=tuple(clips),
        items=tuple(one.item for one in items),
        missing=tuple((LETTERS[team], clip_id) for (clip_id, team), there in explained.items() if not there),
        sheets=tuple(_name(seed, f"sheet {number}") for number in range(jurors)),
    )
    orders = tuple(_order(key, juror, jurors, random.Random(f"{seed}: order {juror}")) for juror in range(jurors))  # noqa: S311 - as above
    return Design(key, {one.item.item_id: one for one in items}, orders)


def _name(seed: str, what: str) -> str:
    return hashlib.sha256(f"{seed}: {what}".encode()).hexdigest()[:12]


def _genuine(final: Final, order: Sequence[int], seed: str, clip_id: str, team: int) -> ShownItem:
    """Make the item of a team's explanation of a clip.

    `order`: indices of the finalists, by the team's letter. `team`: index of the letter.
    """
    finalist = final.finalists[order[team]]
    place = final.clip_ids.index(clip_id)
    explanation = finalist.outcomes.explanations[place]
    values = tuple(float(value) for value in finalist.outcomes.prediction[place])
    cue, effect = _question(explanation.text, place, finalist, final)
    item = Item(_name(seed, f"genuine {clip_id} {team}"), "genuine", clip_id, LETTERS[team], "", effect)
    image = (order[team], explanation.image) if explanation.image else None
    return ShownItem(item, explanation.text, image, values, cue)


def _control(kind: str, own: ShownItem, seed: str, *, effect: str) -> ShownItem:
    """Make a control that looks like a genuine item, with picture and prediction of that item."""
    item_id = _name(seed, f"{kind} {own.item.item_id}")
    return replace(own, item=replace(own.item, item_id=item_id, kind=kind, of=own.item.item_id, effect=effect))


def _question(text: str, place: int, finalist: Finalist, final: Final) -> tuple[str, str]:
    """Find a cue that the text names and a copy of the clip lacks, and the change of the main score."""
    settings, outcomes = final.settings, finalist.outcomes
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    vocabulary = settings.explanation_score.vocabulary
    target = np.full(len(outcomes.clip_ids), final.main, dtype=np.int64)
    effects = measure_effects(outcomes.probes, (low, span), target, final.main, vocabulary)
    changes: NDArray[np.float64] = effects.edited[place]
    for claim in parse_claims(text, vocabulary_of(settings)):
        change = changes[vocabulary.index(claim.cue)]
        if claim.target == settings.main_target and not np.isnan(change):
            small = abs(change) < effects.epsilon[place]
            return claim.cue, "same" if small else "lower" if change > 0 else "higher"
    return "", ""


def _order(key: Key, juror: int, jurors: int, luck: random.Random) -> tuple[str, ...]:
    """Order one juror's items.

    All items of a clip come together, and each juror begins with another clip. Within a clip, the teams follow the rows
    of a cyclic Latin square, so that each team comes first, second, … about equally often. Boilerplate has a random
    place in its clip's block; a repeated item comes at least half of the clips after the first time.
    """
    start = round(juror * len(key.clips) / jurors)
    clips = (*key.clips[start:], *key.clips[:start])
    letters = [team.letter for team in key.teams]
    blocks: list[list[str]] = []
    for number, clip_id in enumerate(clips):
        shift = (number + juror) % len(letters)
        rank = {letter: at for at, letter in enumerate((*letters[shift:], *letters[:shift]))}
        here = [item for item in key.items if item.clip_id == clip_id]
        genuine = [item for item in here if item.kind == "genuine"]
        block = [item.item_id for item in sorted(genuine, key=lambda item: rank[item.letter])]
        for item in here:
            if item.kind == "boilerplate":
                block.insert(luck.randrange(len(block) + 1), item.item_id)
        blocks.append(block)
    for item in (one for one in key.items if one.kind == "repeat"):
        first, half = clips.index(item.clip_id), len(clips) // 2
        apart = range(first + half, len(clips)) if first < len(clips) - half else range(first - half + 1)
        blocks[luck.choice(apart)].append(item.item_id)
    return tuple(item_id for block in blocks for item_id in block)
