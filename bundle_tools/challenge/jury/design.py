"""The design of a jury: finalists, chosen clips, and which juror sees what in which order."""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bundle_tools.challenge.compare.field import score_field, standings
from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.challenge.jury.criteria import Key, RatedItem, Rules, Team
from bundle_tools.challenge.reading.tables import read_clips
from bundle_tools.codabench.competition import Phase
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.errors import BundleError
from bundle_tools.programs import scoring_input, unpacked, use_scoring_program
from score.pipeline import prepare
from score.read.outcomes import Outcomes
from score.settings import Settings

RESAMPLES = 1000


@dataclass(frozen=True)
class Finalist:
    """One run, ready to be shown."""

    name: str
    total: float
    band: int
    rated_sha256: str
    """SHA-256 of its explanations and their submission, by which scoring finds the rating."""
    folder: Path
    """Results of ingestion, where the pictures are."""
    outcomes: Outcomes


@dataclass(frozen=True)
class Final:
    """The input of a jury."""

    settings: Settings
    finalists: tuple[Finalist, ...]
    clips: dict[str, Path]

    @property
    def clip_ids(self) -> tuple[str, ...]:
        """Clips of the reference, ascending."""
        return self.finalists[0].outcomes.clip_ids

    @property
    def main(self) -> int:
        """Index of the main target."""
        return self.settings.names.index(self.settings.main_target)


def gather(phase: Phase, runs: Sequence[RunFolder], scratch: Path) -> Final:
    """Read, check and score the finalists' results.

    `runs`: at least two, of this phase. Raises BundleError if the phase lacks something, if there are fewer than two
    runs, or with every run that cannot be judged.
    """
    if len(runs) < 2:
        raise BundleError("Expected at least two runs to compare, found one.")
    rows = {row.name: row for row in standings(score_field(phase, runs, RESAMPLES, scratch))}
    reference = use_scoring_program(phase, scratch)
    prepared = [
        prepare(scoring_input(scratch / f"jury-{number}", reference, run.folder)) for number, run in enumerate(runs)
    ]
    digests = [scored.results.folder.hashes["explanations.jsonl"] for scored in prepared]
    same = [run.name for run, digest in zip(runs, digests, strict=True) if digests.count(digest) > 1]
    if same:
        raise BundleError(f"{', '.join(same)}: the same explanations. Keep only one of them.")
    finalists = tuple(
        Finalist(
            run.name, rows[run.name].total, rows[run.name].band, scored.results.rated_as, run.folder, scored.outcomes
        )
        for run, scored in zip(runs, prepared, strict=True)
    )
    folder = unpacked(phase.task.input_data, scratch / "input")
    if folder is None:
        raise BundleError("The phase has no input data.")
    return Final(prepared[0].settings, finalists, _clips(folder))


def _clips(folder: Path) -> dict[str, Path]:
    """Find the video of every clip."""
    clips = {clip_id: folder / file for clip_id, file, _ in read_clips(DataFiles(folder))}
    missing = sorted(clip_id for clip_id, video in clips.items() if not video.is_file())
    if missing or not clips:
        raise BundleError(f"{folder}: no video of {', '.join(missing[:10]) or 'any clip'}. Run `bundle check`.")
    return clips


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
        clip_id: sum(finalist.outcomes.explanations[at].text_ok for finalist in final.finalists)
        for at, clip_id in enumerate(ids)
    }
    usable = [clip_id for clip_id in ids if explained[clip_id] > 1]
    luck.shuffle(usable)
    predicted = np.stack([finalist.outcomes.prediction[:, final.main] for finalist in final.finalists])
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
        emptiest = min({level[clip_id] for clip_id in left}, key=lambda stratum: (filled[stratum], stratum))
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
        levels=tuple(sum(level[clip_id] == stratum for clip_id in chosen) for stratum in range(LEVELS)),
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
        clip_id: [(group.name, group.values[group.member[at]]) for group in outcomes.known.groups]
        for at, clip_id in enumerate(outcomes.clip_ids)
    }


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_TEAMS = len(LETTERS)


@dataclass(frozen=True)
class ShownItem:
    """An item with what it shows."""

    item: RatedItem
    text: str
    image: tuple[int, str] | None
    """Index of the finalist, and path of the picture in its results."""
    values: tuple[float, ...]
    """Predictions in the order of the targets."""


@dataclass(frozen=True)
class Design:
    """A jury before its pages are written."""

    key: Key
    shown: dict[str, ShownItem]
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
    genuine = [_genuine(final, order, seed, *cell) for cell, there in explained.items() if there]
    drawn = luck.sample(genuine, min(rules.controls.boilerplate, len(genuine)))
    texts = rules.boilerplate_texts
    boilerplate = [
        replace(_control("boilerplate", own, seed), text=texts[number % len(texts)]) for number, own in enumerate(drawn)
    ]
    drawn = luck.sample(genuine, min(round(rules.controls.repeats * len(genuine)), len(genuine)))
    repeats = [_control("repeat", own, seed) for own in drawn]
    items = [*genuine, *boilerplate, *repeats]
    finalists = [final.finalists[number] for number in order]
    key = Key(
        phase=phase,
        main_target=final.settings.main_target,
        rules_sha256=rules.sha256,
        teams=tuple(
            Team(LETTERS[at], finalist.name, finalist.rated_sha256, round(finalist.total, 2), finalist.band)
            for at, finalist in enumerate(finalists)
        ),
        clips=tuple(clips),
        items=tuple(sheet_item.item for sheet_item in items),
        missing=tuple((LETTERS[team], clip_id) for (clip_id, team), there in explained.items() if not there),
        sheets=tuple(_name(seed, f"sheet {number}") for number in range(jurors)),
    )
    orders = tuple(_order(key, juror, jurors, random.Random(f"{seed}: order {juror}")) for juror in range(jurors))  # noqa: S311 - as above
    return Design(key, {sheet_item.item.item_id: sheet_item for sheet_item in items}, orders)


def _name(seed: str, what: str) -> str:
    return hashlib.sha256(f"{seed}: {what}".encode()).hexdigest()[:12]


def _genuine(final: Final, order: Sequence[int], seed: str, clip_id: str, team: int) -> ShownItem:
    """Make the item of a team's explanation of a clip.

    `order`: indices of the finalists, by the team's letter. `team`: index of the letter.
    """
    finalist = final.finalists[order[team]]
    row = final.clip_ids.index(clip_id)
    explanation = finalist.outcomes.explanations[row]
    values = tuple(float(value) for value in finalist.outcomes.prediction[row])
    item = RatedItem(_name(seed, f"genuine {clip_id} {team}"), "genuine", clip_id, LETTERS[team], "")
    image = (order[team], explanation.image) if explanation.image else None
    return ShownItem(item, explanation.text, image, values)


def _control(kind: str, own: ShownItem, seed: str) -> ShownItem:
    """Make a control that looks like a genuine item, with picture and prediction of that item."""
    item_id = _name(seed, f"{kind} {own.item.item_id}")
    return replace(own, item=replace(own.item, item_id=item_id, kind=kind, of=own.item.item_id))


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
    for item in (repeated for repeated in key.items if repeated.kind == "repeat"):
        first, half = clips.index(item.clip_id), len(clips) // 2
        apart = range(first + half, len(clips)) if first < len(clips) - half else range(first - half + 1)
        blocks[luck.choice(apart)].append(item.item_id)
    return tuple(item_id for block in blocks for item_id in block)
