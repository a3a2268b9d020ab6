"""Who rates what in which order: genuine items, controls among them, and Latin squares."""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.jury.criteria import Rules
from bundle_tools.challenge.jury.finalists import Final, Finalist
from bundle_tools.challenge.jury.key import Item, Key, Team

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_TEAMS = len(LETTERS)
_MOST_SHARED = 0.9
"""Share of words that two texts of a finalist have in common, from which on they say the same."""


@dataclass(frozen=True)
class Shown:
    """What an item shows."""

    item_id: str
    """As in the key."""
    clip_id: str
    """The clip."""
    text: str
    """The explanation."""
    image: tuple[int, str] | None
    """Number of the finalist and path of the picture among its results."""
    values: tuple[float, ...]
    """Predictions in the order of the targets."""
    cue: str
    """The cue that is asked about; empty where that cannot be asked."""


@dataclass(frozen=True)
class Design:
    """A jury before its pages are written."""

    key: Key
    """For the organiser."""
    shown: dict[str, Shown]
    """By item id."""
    orders: tuple[tuple[str, ...], ...]
    """For each juror all item ids, in the order in which they come."""
    cuts: tuple[float, ...]
    """Inner limits of the bands of the main target, ascending."""


def plan(phase: str, final: Final, clips: Sequence[str], jurors: int, rules: Rules, seed: str) -> Design:
    """Lay out a jury.

    Parameters
    ----------
    phase
        Name of the phase.
    final
        Finalists and clips.
    clips
        Ids, in the order of the first juror.
    jurors
        How many sheets, >= 1.
    rules
        Criteria and controls.
    seed
        Any text; the same text gives the same jury.
    """
    luck = random.Random(f"{seed}: design")  # noqa: S311 - for fairness, not for secrecy
    order = list(range(len(final.finalists)))
    luck.shuffle(order)
    finalists = [final.finalists[number] for number in order]
    cuts = _cuts(final, len(rules.bands))
    maker = _Maker(final, finalists, order, clips, cuts, seed)
    genuine, missing = maker.genuine()
    controls = [*maker.swapped(genuine, rules, luck), *maker.boilerplate(genuine, rules, luck)]
    repeats = maker.repeats(genuine, rules, luck)
    shown = {one.item_id: one for _, one in (*genuine, *controls, *repeats)}
    key = Key(
        phase=phase,
        main_target=final.settings.main_target,
        rules_sha256=rules.sha256,
        teams=tuple(
            Team(LETTERS[at], one.name, one.rated_sha256, round(one.total, 2), one.band)
            for at, one in enumerate(finalists)
        ),
        clips=tuple(clips),
        items=tuple(item for item, _ in (*genuine, *controls, *repeats)),
        missing=tuple(missing),
        sheets=tuple(_name(seed, f"sheet {number}") for number in range(jurors)),
    )
    orders = tuple(_order(key, juror, jurors, random.Random(f"{seed}: order {juror}")) for juror in range(jurors))  # noqa: S311 - as above
    return Design(key, shown, orders, cuts)


def _name(seed: str, what: str) -> str:
    return hashlib.sha256(f"{seed}: {what}".encode()).hexdigest()[:12]


def _cuts(final: Final, bands: int) -> tuple[float, ...]:
    """Give limits between which equal shares of all finalists' different predictions lie."""
    main = final.settings.names.index(final.settings.main_target)
    values = np.concatenate([one.outcomes.prediction[:, main] for one in final.finalists])
    # Different ones: a finalist that always says the same would otherwise make bands without width.
    inner = np.quantile(np.unique(values[~np.isnan(values)].round(3)), np.arange(1, bands) / bands)
    return tuple(round(float(cut), 3) for cut in inner)


@dataclass(frozen=True)
class _Maker:
    """Makes items."""

    final: Final
    finalists: Sequence[Finalist]
    numbers: Sequence[int]
    clips: Sequence[str]
    cuts: tuple[float, ...]
    seed: str

    def genuine(self) -> tuple[list[tuple[Item, Shown]], list[tuple[str, str]]]:
        """Make an item of each finalist's explanation of each clip, and list those that do not exist."""
        made, missing = [], []
        for clip_id in self.clips:
            for team in range(len(self.finalists)):
                place = self.final.clip_ids.index(clip_id)
                if self.finalists[team].outcomes.explanations[place].text_ok:
                    made.append(self._item("genuine", clip_id, team, clip_id, ""))
                else:
                    missing.append((LETTERS[team], clip_id))
        return made, missing

    def swapped(
        self, genuine: Sequence[tuple[Item, Shown]], rules: Rules, luck: random.Random
    ) -> list[tuple[Item, Shown]]:
        """Show some finalists' texts about another clip, the most different one; as many finalists as can be.

        Picture and prediction are those of the clip that is shown: only the words tell that something is wrong.
        A finalist who says nearly the same of every clip has none to show: even careful jurors could not tell.
        """
        made: list[tuple[Item, Shown]] = []
        for item, shown in _in_turn(_draw(genuine, len(genuine), luck)):
            if len(made) == rules.swapped:
                break
            shared, clip_id = min(
                (_shared_words(said.text, shown.text), other.clip_id)
                for other, said in genuine
                if other.letter == item.letter
            )
            if shared < _MOST_SHARED:
                made.append(self._item("swapped", item.clip_id, LETTERS.index(item.letter), clip_id, item.item_id))
        return made

    def boilerplate(
        self, genuine: Sequence[tuple[Item, Shown]], rules: Rules, luck: random.Random
    ) -> list[tuple[Item, Shown]]:
        """Show texts that say nothing, with the picture and prediction of some finalist."""
        made = []
        for number, (item, shown) in enumerate(_draw(genuine, rules.boilerplate, luck)):
            text = rules.boilerplate_texts[number % len(rules.boilerplate_texts)]
            item_id = _name(self.seed, f"boilerplate {item.item_id}")
            control = Item(item_id, "boilerplate", item.clip_id, item.letter, item.item_id, item.band, "")
            made.append((control, Shown(item_id, item.clip_id, text, shown.image, shown.values, "")))
        return made

    def repeats(
        self, genuine: Sequence[tuple[Item, Shown]], rules: Rules, luck: random.Random
    ) -> list[tuple[Item, Shown]]:
        """Ask for some items a second time."""
        made = []
        for item, shown in _draw(genuine, round(rules.repeats * len(genuine)), luck):
            item_id = _name(self.seed, f"repeat {item.item_id}")
            again = Item(item_id, "repeat", item.clip_id, item.letter, item.item_id, item.band, item.effect)
            made.append((again, Shown(item_id, shown.clip_id, shown.text, shown.image, shown.values, shown.cue)))
        return made

    def _item(self, kind: str, clip_id: str, team: int, told_of: str, of: str) -> tuple[Item, Shown]:
        settings, outcomes = self.final.settings, self.finalists[team].outcomes
        place = self.final.clip_ids.index(clip_id)
        text = outcomes.explanations[self.final.clip_ids.index(told_of)].text
        picture = outcomes.explanations[place].image
        values = tuple(float(value) for value in outcomes.prediction[place])
        band = int(np.searchsorted(self.cuts, values[settings.names.index(settings.main_target)], side="right"))
        cue, effect = _question(text, place, self.finalists[team], self.final)
        item_id = _name(self.seed, f"{kind} {clip_id} {team}")
        image = (self.numbers[team], picture) if picture else None
        item = Item(item_id, kind, clip_id, LETTERS[team], of, band, effect)
        return item, Shown(item_id, clip_id, text, image, values, cue)


def _question(text: str, place: int, finalist: Finalist, final: Final) -> tuple[str, str]:
    """Find a cue that the text names and that was taken out of the clip, and what the main score then did."""
    from score.axes.effects import measure_effects  # noqa: PLC0415 - the program's path is known only now
    from score.text import parse_claims  # noqa: PLC0415
    from score.text.reading import vocabulary_of  # noqa: PLC0415

    settings, outcomes = final.settings, finalist.outcomes
    main = settings.names.index(settings.main_target)
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    vocabulary = settings.explanation.vocabulary
    effects = measure_effects(
        outcomes.probes,
        (outcomes.prediction - low) / span,
        (low, span),
        np.full(len(outcomes.clip_ids), main, dtype=np.int64),
        vocabulary,
    )
    changes: NDArray[np.float64] = effects.edited[place]
    for claim in parse_claims(text, vocabulary_of(settings)):
        change = changes[vocabulary.index(claim.cue)]
        if claim.target == settings.main_target and not np.isnan(change):
            small = abs(change) < effects.epsilon[place]
            return claim.cue, "same" if small else "lower" if change > 0 else "higher"
    return "", ""


def _in_turn(items: Sequence[tuple[Item, Shown]]) -> list[tuple[Item, Shown]]:
    """Bring items of each team in turn: the first of every team, then the second of every team, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for place, (item, shown) in enumerate(items):
        turns.append((seen[item.letter], place, item, shown))
        seen[item.letter] += 1
    return [(item, shown) for _, _, item, shown in sorted(turns, key=lambda turn: turn[:2])]


def _shared_words(one: str, other: str) -> float:
    """Give the share of two texts' different words that both have; numbers do not count, and 1 without any words."""
    first, second = (set(re.findall(r"[^\W\d_]+", text.lower())) for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 1.0


def _draw(items: Sequence[tuple[Item, Shown]], count: int, luck: random.Random) -> list[tuple[Item, Shown]]:
    return luck.sample(list(items), min(count, len(items)))


def _order(key: Key, juror: int, jurors: int, luck: random.Random) -> tuple[str, ...]:
    """Order one juror's items.

    Clips come one after another, beginning elsewhere for each juror. Within a clip the teams follow the rows of a
    cyclic Latin square, so that over clips and jurors each team comes first, second, … about equally often. Controls
    stand at a drawn place of their clip's block; the two times of a repeated item lie at least half the clips apart.
    """
    start = round(juror * len(key.clips) / jurors)
    clips = (*key.clips[start:], *key.clips[:start])
    letters = [team.letter for team in key.teams]
    blocks: list[list[str]] = []
    for number, clip_id in enumerate(clips):
        shift = (number + juror) % len(letters)
        rank = {letter: at for at, letter in enumerate((*letters[shift:], *letters[:shift]))}
        here = [item for item in key.items if item.clip_id == clip_id]
        block = [item.item_id for item in sorted(_of(here, "genuine"), key=lambda item: rank[item.letter])]
        for item in (*_of(here, "swapped"), *_of(here, "boilerplate")):
            block.insert(luck.randrange(len(block) + 1), item.item_id)
        blocks.append(block)
    for item in _of(key.items, "repeat"):
        first, half = clips.index(item.clip_id), len(clips) // 2
        apart = range(first + half, len(clips)) if first < len(clips) - half else range(first - half + 1)
        blocks[luck.choice(apart)].append(item.item_id)
    return tuple(item_id for block in blocks for item_id in block)


def _of(items: Sequence[Item], kind: str) -> list[Item]:
    return [item for item in items if item.kind == kind]
