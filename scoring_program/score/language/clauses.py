"""Cutting a sentence into clauses, and a clause into predications: one effect each, with what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from score.language.items import Item
from score.language.lexicon import MOVES, NOTE

_MARKS = frozenset(["effect", "comparative", "level"])
_SEPARATORS = frozenset(["and", "comma"])
_QUIET = frozenset(["small", "auxiliary", "determiner", "negation", "flip", "result", "addition", "preposition"])
_SILENT = frozenset(["small", "auxiliary", "determiner", "preposition"])


@dataclass(frozen=True)
class Predication:
    """An effect and what is said around it."""

    before: tuple[Item, ...]
    """From the end of the predication before."""
    mark: Item
    """The effect, comparison or level."""
    after: tuple[Item, ...]
    """Up to the beginning of the next predication."""
    first: bool
    """Whether the clause begins with it."""


def clauses(items: Sequence[Item]) -> list[list[Item]]:
    """Cut at "but", "while" and the like, and at a "because" that has an effect of its own."""
    items = _exclusions(items)
    result: list[list[Item]] = [[]]
    for place, item in enumerate(items):
        if item.kind == "contrast" or (item.kind == "clausal" and _has_subject_and_effect(items[place + 1 :])):
            result.append([])
        else:
            result[-1].append(item)
    return [clause for clause in result if clause]


def _exclusions(items: Sequence[Item]) -> list[Item]:
    """Read "not the smile but the gaze" as an exclusion of the smile."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind != "negation" or item.text != "not":
            continue
        follow = place + 1
        while follow < len(items) and items[follow].kind in ("determiner", "small", "cause", "preposition"):
            follow += 1
        if follow == len(items) or items[follow].kind != "cue":
            continue
        contrast = next(
            (at for at in range(follow, len(items)) if items[at].kind == "contrast" and items[at].text == "but"), None
        )
        named = any(other.kind in ("determiner", "cause") for other in items[place + 1 : follow])
        if named or contrast is not None:
            result[place] = replace(item, kind="exclusion")
            if contrast is not None:
                result[contrast] = replace(items[contrast], kind="comma", value="but")
    return result


def _has_subject_and_effect(items: Sequence[Item]) -> bool:
    cue = False
    for item in items:
        if item.kind == "contrast":
            return False
        cue = cue or item.kind in ("cue", "reference", "pronoun")
        if item.kind in ("effect", "comparative") and item.value != NOTE:
            return cue and item.value != MOVES
    return False


def predications(clause: Sequence[Item]) -> list[Predication]:
    """Share out the words of a clause among its effects; none if it has no effect."""
    marks = _marks(clause)
    edges = [0]
    for one, other in pairwise(marks):
        edges.append(one + 1 + _cut(clause[one + 1 : other], follows_cause=_caused(clause[one + 1 : other])))
    edges.append(len(clause))
    return [
        Predication(tuple(clause[start:mark]), clause[mark], tuple(clause[mark + 1 : end]), start == 0)
        for start, mark, end in zip(edges, marks, edges[1:], strict=False)
    ]


def _marks(clause: Sequence[Item]) -> list[int]:
    """Places of the effects; of two that say one thing ("helped to raise", "pushed it higher"), one."""
    marks: list[int] = []
    for place, item in enumerate(clause):
        if item.kind not in _MARKS:
            continue
        if item.value == NOTE and marks and all(other.kind != "cue" for other in clause[marks[-1] + 1 : place]):
            continue
        if marks:
            between = clause[marks[-1] + 1 : place]
            previous = clause[marks[-1]]
            apart = any(
                other.kind in _SEPARATORS or other.kind in ("cue", "cause", "clausal", "colon", "result", "reference")
                for other in between
            )
            if not apart:
                if previous.kind == "level" and item.kind != "level":
                    marks[-1] = place
                    continue
                if item.kind != "effect":
                    continue
                if all(other.kind in _SILENT or other.text == "to" for other in between):
                    marks[-1] = place
                    continue
                if any(other.kind == "target" for other in between):
                    continue
        marks.append(place)
    return marks


def _caused(between: Sequence[Item]) -> bool:
    """Whether the cues between two effects are given as causes of the first ("was raised by a smile")."""
    for item in between:
        if item.kind in ("cause", "clausal", "colon"):
            return True
        if item.kind == "cue":
            return False
    return False


def _cut(between: Sequence[Item], *, follows_cause: bool) -> int:
    """Return where the second of two predications begins, counted in the items between their effects."""
    places = [
        place for place, item in enumerate(between) if item.kind in _SEPARATORS or item.kind in ("reference", "result")
    ]
    # ", and" is one separator.
    places = [place for place in places if place - 1 not in places or between[place].kind != "and"]
    if not places:
        last = max((place for place, item in enumerate(between) if item.kind == "target"), default=-1)
        return last + 1
    if all(item.kind in _QUIET or item.kind in _SEPARATORS for item in between[places[-1] :]):
        return places[-1]
    for place in places:
        if between[place].kind in ("reference", "result") and not any(item.kind == "cue" for item in between[place:]):
            return place
    subject = next((item.kind for item in reversed(between) if item.kind in ("cue", "target", "pronoun")), "")
    first_cue = next((place for place, item in enumerate(between) if item.kind == "cue"), len(between))
    last_cue = max((place for place, item in enumerate(between) if item.kind == "cue"), default=-1)
    if subject == "cue" and not follows_cause:
        last_target = max(
            (place for place, item in enumerate(between[:first_cue]) if item.kind in ("target", "pronoun")), default=-1
        )
        allowed = [
            place
            for place in places
            if place > last_target and not any(item.kind == "addition" for item in between[:place])
        ]
        return (allowed or places)[0]
    if subject == "cue":
        places = [place for place in places if place > first_cue] or places
    elif last_cue >= 0:
        places = [place for place in places if place > last_cue] or places
        return places[0]
    strength = {place: _strength(between, place) for place in places}
    strongest = max(strength.values())
    return max(place for place in places if strength[place] == strongest)


def _strength(items: Sequence[Item], place: int) -> int:
    if items[place].kind == "and":
        return 1
    return 3 if items[place + 1 : place + 2] and items[place + 1].kind == "and" else 2
