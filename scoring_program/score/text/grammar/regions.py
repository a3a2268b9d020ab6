"""What surrounds an effect: cues, targets, concessions and negations."""

from __future__ import annotations

from collections.abc import Container, Sequence

from score.text.grammar.items import EFFECTIVE, Item
from score.text.grammar.lexicon import IT

Targets = tuple[tuple[str, int], ...]
"""Names of targets, each with 1 or, for its opposite ("neuroticism"), -1."""

QUIET = frozenset(["small", "auxiliary", "determiner"])
_FINITE = frozenset(["he", "she", "they", "it", "there", "i", "we", "you", "is", "are", "was", "were", "has", "had"])
_NO_OBJECTS = ("cue", "cause", "clausal", "reference", "colon", "addition")
_SPOKEN = ("speech_rate", "voice")
_SEPARATORS = frozenset(["and", "comma", "with", "addition", "colon", "cause"])


def split_at(items: Sequence[Item], kinds: Container[str]) -> list[list[Item]]:
    """Split a sequence of items at some kinds, which are left out."""
    groups: list[list[Item]] = [[]]
    for item in items:
        if item.kind in kinds:
            groups.append([])
        else:
            groups[-1].append(item)
    return groups


def mentions(items: Sequence[Item], *, excluded: bool = False) -> tuple[str, ...]:
    """Return the cues found by `named`, each once."""
    return tuple(dict.fromkeys(item.value for item in named(items, excluded=excluded)))


def named(items: Sequence[Item], *, excluded: bool = False) -> list[Item]:
    """Return the items that name cues, without those that are excluded or only describe another cue.

    Between two separators, a strong cue hides weak ones: "a smile on the face" is a smile. Of two adjacent nouns
    ("background lighting"), the last one counts.
    """
    groups: list[list[tuple[int, Item]]] = [[]]
    out = False
    for place, item in enumerate(items):
        if item.kind == "exclusion" and not (excluded and item.text not in ("not", "neither")):
            out = True
            groups.append([])
        elif item.kind in _SEPARATORS and item.text != "without":
            out = out and item.kind != "comma"
            groups.append([])
        elif item.kind == "cue" and not out:
            groups[-1].append((place, item))
    found: list[Item] = []
    clear = any(not item.weak for group in groups for _, item in group)
    for group in groups:
        if clear and group and all(item.weak for _, item in group) and _is_bare(items, group[0][0]):
            continue  # "deadpan face, no smile"
        strong = [pair for pair in group if not pair[1].weak]
        kept: list[tuple[int, Item]] = []
        for place, item in strong or group:
            if kept and place == kept[-1][0] + 1:
                # "Hesitant answers" are speech.
                kept[-1] = (place, kept[-1][1] if item.value == "words" and kept[-1][1].value in _SPOKEN else item)
            elif (
                not kept
                or item.value == "clothing"
                or not any(other.kind == "preposition" for other in items[kept[-1][0] + 1 : place])
            ):
                kept.append((place, item))
        found += [item for _, item in (kept if strong else kept[:1])]
    return found


def _is_bare(items: Sequence[Item], place: int) -> bool:
    """Whether a word other than an article stands next to a cue."""
    kinds = [item.kind for item in items[max(0, place - 3) : place + 2]]
    return "word" in kinds and "determiner" not in kinds


def targets_in(items: Sequence[Item]) -> Targets:
    """Return all targets and pronouns."""
    return tuple((item.value or IT, item.sign or 1) for item in items if item.kind in ("target", "pronoun"))


def objects_of(after: Sequence[Item]) -> Targets:
    """Return the targets right behind an effect, before any cue or cause; "by 0.06" is not a cause."""
    for place, item in enumerate(after):
        following = after[place + 1 : place + 2]
        counted = item.kind == "cause" and following and following[0].text[0].isdigit()
        added = item.kind == "addition" and next_named(after[place:]) == "target"  # "as well as the interview score"
        if item.kind in _NO_OBJECTS and item.text != "for" and not counted and not added:
            return targets_in(after[:place])
    return targets_in(after)


def co_subjects(after: Sequence[Item]) -> Targets:
    """Return the targets that are added behind an effect: "openness fell, and so did extraversion"."""
    joined = [place for place, item in enumerate(after) if item.kind in ("and", "addition")]
    return objects_of(after[joined[0] :]) if joined and not targets_in(after[: joined[0]]) else ()


def next_named(items: Sequence[Item]) -> str:
    """Return the kind of the first cue, target or effect."""
    return next((item.kind for item in items if item.kind in ("cue", "target", *EFFECTIVE)), "none")


def subject_of(before: Sequence[Item]) -> str:
    """Return the kind of an effect's subject: a cue, a target, a reference, a pronoun, or none of these."""
    kinds = ("cue", "target", "reference", "pronoun")
    return next((item.kind for item in reversed(before) if item.kind in kinds), "none")


def own_clause(before: Sequence[Item]) -> Sequence[Item]:
    """Return the clause that contains the effect, as in "she sits in a bright kitchen, and the daylight"."""
    kinds = [item.kind for item in before]
    if not {"cause", "concession", "removal", "hidden"}.isdisjoint(kinds) or subject_of(before) != "cue":
        return before
    if "clausal" in kinds:  # "it is a pity about the room, because the light"
        return before[len(kinds) - kinds[::-1].index("clausal") :]
    joints = [place for place, item in enumerate(before) if item.kind in ("and", "comma")]
    last = before[joints[-1] :] if joints else before
    told = any(item.text in _FINITE for item in before[: joints[-1]]) if joints else False
    return last if told and any(item.kind == "cue" for item in last) else before


def split_concession(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Split off "despite the dim light,", up to the next comma or target."""
    if any(one.kind == "concession" for one in items) and any(item.kind == "reference" for item in items):
        return tuple(items), ()  # "despite the voice, which added 0.03"
    rest: list[Item] = []
    off: list[Item] = []
    inside = False
    for item in items:
        if item.kind == "concession":
            inside = True
            continue
        if item.kind in ("comma", "target", "pronoun") and any(other.kind == "cue" for other in off):
            inside = False
        (off if inside else rest).append(item)
    return tuple(rest), tuple(off)


def without_denied(after: Sequence[Item]) -> tuple[Item, ...]:
    """Leave out "the light did not" behind "the smile helped,"."""
    kept: list[Item] = []
    group: list[Item] = []
    for item in after:
        if item.kind in ("comma", "and"):
            kept += group
            group = []
        elif item.kind == "negation" and any(other.kind == "cue" for other in group):
            group = []
        group.append(item)
    return (*kept, *group)


def denied(before: Sequence[Item]) -> bool:
    """Whether a negation stands right before the effect ("did not really raise") or behind "would"."""
    would = [place for place, item in enumerate(before) if item.kind == "flip"]
    if would and any(item.kind == "negation" for item in before[would[-1] :]):
        return True
    texts = [item.text for item in before[-4:]]
    if texts[-1:] == ["to"] and "too" in texts:
        return True  # "she smiles too little to lift it"
    for item in reversed(before):
        if item.kind == "negation":
            return True
        reason = item.kind == "flip" or item.text in ("to", "help", "helped", "reason", "cause", "responsible")
        if item.kind not in QUIET and not reason:
            return False
    return False
