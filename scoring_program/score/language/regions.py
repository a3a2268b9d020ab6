"""What stands before and behind an effect: cues, causes, subjects, targets and negations."""

from __future__ import annotations

from collections.abc import Sequence

from score.language.items import Item
from score.language.lexicon import IT

Targets = tuple[tuple[str, int], ...]
"""Names of targets, each with 1 or, for its opposite ("neuroticism"), -1."""

_SEPARATORS = frozenset(["and", "comma", "with", "addition", "colon", "cause"])
QUIET = frozenset(["small", "auxiliary", "determiner"])
_SKIPPED = frozenset(
    [*QUIET, "negation", "flip", "word", "preposition", "comma", "and", "colon", "addition", "result", "with"]
)


def mentions(items: Sequence[Item], *, excluded: bool = False) -> tuple[str, ...]:
    """Return the cues that are named, each once, as `named` finds them."""
    return tuple(dict.fromkeys(item.value for item in named(items, excluded=excluded)))


def named(items: Sequence[Item], *, excluded: bool = False) -> list[Item]:
    """Return the items that name cues, without those that are excluded or only describe another cue.

    Between two separators a strong cue hides weak ones, "a smile on the face" is a smile, and of two nouns side by
    side ("background lighting") the last one counts.
    """
    groups: list[list[tuple[int, Item]]] = [[]]
    out = False
    for place, item in enumerate(items):
        if item.kind == "exclusion" and not (excluded and item.text != "not"):
            out = True
            groups.append([])
        elif item.kind in _SEPARATORS:
            out = out and item.kind != "comma"
            groups.append([])
        elif item.kind == "target":
            out = False
        elif item.kind == "cue" and not out:
            groups[-1].append((place, item))
    found: list[Item] = []
    for group in groups:
        strong = [pair for pair in group if not pair[1].weak]
        chosen = strong or group[:1]
        kept: list[tuple[int, Item]] = []
        for place, item in chosen:
            if kept and place == kept[-1][0] + 1:
                kept[-1] = (place, item)
            elif kept and _modifies(items, kept[-1][0], place):
                continue
            else:
                kept.append((place, item))
        found += [item for _, item in kept]
    return found


def _modifies(items: Sequence[Item], head: int, place: int) -> bool:
    return any(
        item.kind == "preposition" or item.text in ("of", "in", "from", "behind") for item in items[head + 1 : place]
    )


def by_degree(after: Sequence[Item]) -> bool:
    """Whether "more" or "less" stands right behind an effect: "would have helped more" says that it helped."""
    for item in after:
        if item.text in ("more", "further", "less"):
            return True
        if item.kind not in ("target", "pronoun", *QUIET):
            return False
    return False


def linked(after: Sequence[Item]) -> tuple[str, ...]:
    """Return the cues of "what helped was the smile"."""
    auxiliary = any(item.kind == "auxiliary" for item in after)
    return mentions(after) if auxiliary or (after and after[0].text in ("of", "did")) else ()


def subject_of(before: Sequence[Item]) -> str:
    """Return what an effect's subject is: a cue, a target, a reference, a pronoun, an unknown word, or none."""
    unknown = False
    for item in reversed(before):
        if item.kind in ("cue", "target", "reference", "pronoun"):
            return item.kind
        if item.kind in ("comma", "and", "colon") and not unknown and item is before[0]:
            return "none"
        if item.kind not in _SKIPPED:
            unknown = True
        unknown = unknown or item.kind == "word"
    return "unknown" if unknown else "none"


def caused_by(after: Sequence[Item], *, direct: bool = False) -> tuple[str, ...]:
    """Return the cues behind the first "by", "because of", "with" or colon after an effect."""
    for place, item in enumerate(after):
        if item.kind == "cue":
            return ()
        if item.kind in ("cause", "clausal", "with") or (item.kind == "colon" and not direct):
            return mentions(after[place + 1 :])
        if direct and item.kind not in QUIET:
            return ()
    return ()


def added(after: Sequence[Item]) -> tuple[str, ...]:
    """Return cues that are added behind the effect: "..., and so did the gaze", "not the smile but the gaze"."""
    for place, item in enumerate(after):
        if item.kind == "addition":
            return mentions(after[place + 1 :]) or mentions(after[:place])
        if item.kind == "comma" and item.value == "but":
            return mentions(after[place + 1 :])
        if item.kind == "cue" and any(other.text == "by" for other in after[place + 1 : place + 2]):
            return (item.value,)
    return ()


def objects_of(after: Sequence[Item]) -> Targets:
    """Return the targets right behind an effect, before any cue or cause."""
    found: list[tuple[str, int]] = []
    for item in after:
        if item.kind in ("cue", "cause", "clausal", "reference", "colon", "addition") and item.text != "for":
            break
        if item.kind in ("target", "pronoun"):
            found.append((item.value or IT, item.sign or 1))
    return tuple(found)


def targets_in(items: Sequence[Item]) -> Targets:
    """Return all targets and pronouns."""
    return tuple((item.value or IT, item.sign or 1) for item in items if item.kind in ("target", "pronoun"))


def split_concession(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Part "despite the dim light," from the rest: up to the next comma or target."""
    rest: list[Item] = []
    off: list[Item] = []
    inside = False
    for item in items:
        if item.kind == "concession":
            inside = True
        elif inside and off and (item.kind in ("comma", "target", "pronoun") and any(o.kind == "cue" for o in off)):
            inside = False
            rest.append(item)
        elif inside:
            off.append(item)
        else:
            rest.append(item)
    return tuple(rest), tuple(off)


def denied(before: Sequence[Item]) -> bool:
    """Whether a negation stands right before the effect: "did not really raise"."""
    for item in reversed(before):
        if item.kind == "negation":
            return True
        if item.kind not in QUIET and item.kind != "flip" and item.text not in ("to", "help", "helped"):
            return False
    return False


def denied_loosely(before: Sequence[Item]) -> bool:
    """Whether a negation stands before a level in the same phrase: "is not all that high"."""
    for item in reversed(before):
        if item.kind == "negation":
            return True
        if item.kind in ("cue", "target", "comma"):
            return False
    return False
