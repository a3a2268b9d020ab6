"""Who rates what in which order: genuine items, controls among them, and Latin squares."""

import hashlib
import random
import re
from collections import Counter
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
_MOST_SHARED = 0.9
"""Share of common words from which two texts of a finalist count as equal."""


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
    cuts: tuple[float, ...]
    """Inner limits of the bands of the main target, ascending."""


def plan(phase: str, final: Final, clips: Sequence[str], jurors: int, rules: Rules, seed: str) -> Design:
    """Lay out a jury.

    `clips`: ids, in the order of the first juror.
    `jurors`: how many sheets, >= 1.
    `seed`: any text; the same text gives the same jury.
    """
    luck = random.Random(f"{seed}: design")  # noqa: S311 - for fairness, not for secrecy
    order = list(range(len(final.finalists)))
    luck.shuffle(order)
    cuts = _cuts(final, len(rules.bands))
    maker = _Maker(final, order, cuts, seed)
    explained = {
        (clip_id, team): final.finalists[number].outcomes.explanations[final.clip_ids.index(clip_id)].text_ok
        for clip_id in clips
        for team, number in enumerate(order)
    }
    genuine = [maker.item("genuine", *place) for place, there in explained.items() if there]
    # The order matters, because all share one random generator.
    controls = [*maker.swapped(genuine, rules, luck), *maker.boilerplate(genuine, rules, luck)]
    items = [*genuine, *controls, *maker.repeats(genuine, rules, luck)]
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
    return Design(key, {one.item.item_id: one for one in items}, orders, cuts)


def _name(seed: str, what: str) -> str:
    return hashlib.sha256(f"{seed}: {what}".encode()).hexdigest()[:12]


def _cuts(final: Final, bands: int) -> tuple[float, ...]:
    """Return limits that divide the finalists' distinct predictions into equal shares."""
    values = np.concatenate([one.outcomes.prediction[:, final.main] for one in final.finalists])
    # Distinct ones, because a finalist with constant predictions would otherwise create bands without width.
    inner = np.quantile(np.unique(values[~np.isnan(values)].round(3)), np.arange(1, bands) / bands)
    return tuple(round(float(cut), 3) for cut in inner)


@dataclass(frozen=True)
class _Maker:
    """Makes items."""

    final: Final
    order: Sequence[int]
    """Indices of the finalists, ordered by the team's letter."""
    cuts: tuple[float, ...]
    seed: str

    def item(self, kind: str, clip_id: str, team: int, *, told_of: str = "", of: str = "") -> ShownItem:
        """Make the item of a team's explanation of a clip, or of another clip's text."""
        finalist = self.final.finalists[self.order[team]]
        place = self.final.clip_ids.index(clip_id)
        text = finalist.outcomes.explanations[self.final.clip_ids.index(told_of or clip_id)].text
        picture = finalist.outcomes.explanations[place].image
        values = tuple(float(value) for value in finalist.outcomes.prediction[place])
        band = int(np.searchsorted(self.cuts, values[self.final.main], side="right"))
        cue, effect = _question(text, place, finalist, self.final)
        item = Item(_name(self.seed, f"{kind} {clip_id} {team}"), kind, clip_id, LETTERS[team], of, band, effect)
        return ShownItem(item, text, (self.order[team], picture) if picture else None, values, cue)

    def swapped(self, genuine: Sequence[ShownItem], rules: Rules, luck: random.Random) -> list[ShownItem]:
        """Show texts about another clip, the most different one, of as many finalists as possible.

        Picture and prediction are those of the shown clip, so only the words reveal the swap. Finalists with nearly the
        same text for every clip are skipped, because even careful jurors could not notice it.
        """
        made: list[ShownItem] = []
        for own in _in_turn(luck.sample(genuine, len(genuine))):
            if len(made) == rules.swapped:
                break
            item = own.item
            shared, clip_id = min(
                (_shared_words(other.text, own.text), other.item.clip_id)
                for other in genuine
                if other.item.letter == item.letter
            )
            if shared < _MOST_SHARED:
                team = LETTERS.index(item.letter)
                made.append(self.item("swapped", item.clip_id, team, told_of=clip_id, of=item.item_id))
        return made

    def boilerplate(self, genuine: Sequence[ShownItem], rules: Rules, luck: random.Random) -> list[ShownItem]:
        """Show empty phrases, with the picture and prediction of some finalist."""
        drawn = luck.sample(genuine, min(rules.boilerplate, len(genuine)))
        texts = rules.boilerplate_texts
        return [
            replace(self._again("boilerplate", own, effect=""), text=texts[number % len(texts)], cue="")
            for number, own in enumerate(drawn)
        ]

    def repeats(self, genuine: Sequence[ShownItem], rules: Rules, luck: random.Random) -> list[ShownItem]:
        """Ask for some items a second time."""
        drawn = luck.sample(genuine, min(round(rules.repeats * len(genuine)), len(genuine)))
        return [self._again("repeat", own, effect=own.item.effect) for own in drawn]

    def _again(self, kind: str, own: ShownItem, *, effect: str) -> ShownItem:
        item_id = _name(self.seed, f"{kind} {own.item.item_id}")
        return replace(own, item=replace(own.item, item_id=item_id, kind=kind, of=own.item.item_id, effect=effect))


def _question(text: str, place: int, finalist: Finalist, final: Final) -> tuple[str, str]:
    """Find a cue that the text names and a copy of the clip lacks, and the change of the main score."""
    settings, outcomes = final.settings, finalist.outcomes
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    vocabulary = settings.explanation.vocabulary
    target = np.full(len(outcomes.clip_ids), final.main, dtype=np.int64)
    effects = measure_effects(outcomes.probes, (low, span), target, final.main, vocabulary)
    changes: NDArray[np.float64] = effects.edited[place]
    for claim in parse_claims(text, vocabulary_of(settings)):
        change = changes[vocabulary.index(claim.cue)]
        if claim.target == settings.main_target and not np.isnan(change):
            small = abs(change) < effects.epsilon[place]
            return claim.cue, "same" if small else "lower" if change > 0 else "higher"
    return "", ""


def _in_turn(items: Sequence[ShownItem]) -> list[ShownItem]:
    """Order items by turns: the first of every team, then the second of every team, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for one in items:
        turns.append(seen[one.item.letter])
        seen[one.item.letter] += 1
    return [one for _, one in sorted(zip(turns, items, strict=True), key=lambda turn: turn[0])]


def _shared_words(one: str, other: str) -> float:
    """Return the share of two texts' distinct words that both have, ignoring numbers; 1 without any words."""
    first, second = (set(re.findall(r"[^\W\d_]+", text.lower())) for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 1.0


def _order(key: Key, juror: int, jurors: int, luck: random.Random) -> tuple[str, ...]:
    """Order one juror's items.

    All items of a clip come together, and each juror begins with another clip. Within a clip, the teams follow the rows
    of a cyclic Latin square, so that each team comes first, second, … about equally often. Controls have a random place
    in their clip's block; a repeated item comes at least half of the clips after the first time.
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
            if item.kind in ("swapped", "boilerplate"):
                block.insert(luck.randrange(len(block) + 1), item.item_id)
        blocks.append(block)
    for item in (one for one in key.items if one.kind == "repeat"):
        first, half = clips.index(item.clip_id), len(clips) // 2
        apart = range(first + half, len(clips)) if first < len(clips) - half else range(first - half + 1)
        blocks[luck.choice(apart)].append(item.item_id)
    return tuple(item_id for block in blocks for item_id in block)
