"""Cut a sentence into parts with one effect each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from score.text.grammar.items import EFFECTIVE, Item
from score.text.grammar.lexicon import CHANGE, EVEN, NOTE, OVER
from score.text.grammar.regions import split_at

_SEPARATORS = frozenset(["and", "comma"])
_QUIET = frozenset(["small", "auxiliary", "determiner", "negation", "flip", "result", "addition", "preposition"])
_LEADING = frozenset(["determiner", "small", "cause", "preposition"])
_CONCEDING = frozenset(["although", "though", "even"])
_SILENT = frozenset(["small", "auxiliary", "determiner", "preposition"])
_ENDS = frozenset(["and", "comma", "cue", "cause", "clausal", "colon", "result", "reference"])


@dataclass(frozen=True)
class Part:
    """A stretch of a sentence with at most one effect."""

    before: tuple[Item, ...]
    """Items before the effect; all items if there is none."""
    mark: Item | None
    """The effect, comparison or level."""
    after: tuple[Item, ...]
    """Items after the effect, up to the next part."""


def parts_of(sentence: Sequence[Item]) -> list[list[Part]]:
    """Cut a sentence at "but", "while" and the like, and every clause into parts with one effect each."""
    clauses = split_at(_exclusions(sentence), ("contrast",))
    first, *rest = split_at(clauses[1], ("comma",)) if len(clauses) > 1 and not clauses[0] else [[]]
    if rest and "auxiliary" in {item.kind for item in first} and {item.kind for item in first}.isdisjoint(EFFECTIVE):
        clauses[1:2] = [first, clauses[1][len(first) + 1 :]]  # "while the voice is warm, it is the gaze that ..."
    return [_parts(clause) for clause in clauses if clause]


def _exclusions(items: Sequence[Item]) -> list[Item]:
    """Read "not the smile but the gaze" as an exclusion of the smile."""
    result = list(items)
    for place, item in enumerate(items):
        if item.text == "neither" and items[0].text == "it" and "reference" in {other.kind for other in items[place:]}:
            result[place] = replace(item, kind="exclusion")  # "it was neither the lamp nor the suit that cost points"
        if item.text in _CONCEDING and item.kind == "contrast" and any(other.kind == "level" for other in items):
            kinds = {other.kind for other in split_at(items[place:], ("comma",))[0]}
            if "cue" in kinds and kinds.isdisjoint(EFFECTIVE):  # "it is high although she slouches"
                result[place] = replace(item, kind="concession")
        if item.text == "than" or (item.kind == "addition" and item.text in ("more", "less")):
            split = (items[:place], items[place + 2 :])
            stated = all(any(other.kind == "effect" or other.text == "could" for other in some) for some in split)
            if stated and items[place + 1].kind not in ("effect", "pronoun"):
                result[place] = replace(item, kind="contrast")  # "cost more than the smile could earn"
        if item.kind != "negation" or item.text != "not" or any(other.text in ("had", "if") for other in items[:place]):
            continue
        ahead = place + 1
        while ahead < len(items) and (items[ahead].kind in (*_LEADING, "word") or items[ahead].text == "to"):
            ahead += 1
        if ahead == len(items) or items[ahead].kind != "cue":
            continue
        but = next((at for at in range(ahead, len(items)) if items[at].text == "but"), None)
        if but is not None or any(other.kind in ("determiner", "cause") for other in items[place + 1 : ahead]):
            result[place] = replace(item, kind="exclusion")
            if but is not None:
                result[but] = replace(items[but], kind="comma", value="but")
    return result


def _parts(clause: Sequence[Item]) -> list[Part]:
    marks = _marks(clause)
    if not marks:
        return [Part(tuple(clause), None, ())]
    edges = [0]
    # "+smile -gaze", but not "smile + gaze -" or "the smile adds +0.05, the gaze +0.03".
    first = next((place for place in marks if clause[place].value == NOTE), 0)
    behind = [item.kind for item in clause[first + 1 :] if item.kind not in ("small", "determiner", "word")]
    signed_first = behind[:1] == ["cue"] and (first == 0 or clause[first - 1].kind != "cue")
    for one, other in pairwise(marks):
        noted = clause[other].value == clause[one].value == NOTE
        leads = signed_first if noted else marks[0] == 0
        edges.append(one + 1 + _cut(clause[one + 1 : other], leads=leads, noted=noted))
    edges.append(len(clause))
    return [
        part
        for start, mark, end in zip(edges, marks, edges[1:], strict=False)
        for part in _shared(Part(tuple(clause[start:mark]), clause[mark], tuple(clause[mark + 1 : end])))
    ]


def _shared(part: Part) -> list[Part]:
    """Read "openness was raised by the words, extraversion by the gestures" as two parts with one effect."""
    after, kinds = part.after, [item.kind for item in part.after]
    for place in range(1, len(kinds) - 1):
        ahead = [kind for kind in kinds[:place] if kind not in ("small", "determiner")]
        joined = "cue" in ahead and ahead[-1] in (*_SEPARATORS, "addition")
        if joined and kinds[place : place + 2] == ["target", "cause"] and part.mark:
            bound = ((after[place].value, after[place].sign),) if part.mark.bound else ()
            following = Part((after[place],), replace(part.mark, bound=bound), after[place + 1 :])
            return [replace(part, after=after[:place]), *_shared(following)]
    return [part]


def _marks(clause: Sequence[Item]) -> list[int]:
    """Return the places of effects; two that mean one thing ("helped to raise", "pushed it higher") count once."""
    marks: list[int] = []
    for place, item in enumerate(clause):
        if item.kind not in EFFECTIVE:
            continue
        if marks:
            previous, between = clause[marks[-1]], clause[marks[-1] + 1 : place]
            kinds = {other.kind for other in between}
            leads = clause[place + 1 : place + 2] and clause[place + 1].kind == "cue" and "comma" in kinds
            if item.value == "number" and previous.value == NOTE:
                continue
            same = item.value == NOTE != previous.value and item.sign == previous.sign and not leads
            if item.value == CHANGE or (same and (kinds.isdisjoint(_SEPARATORS) or "cue" not in kinds)):
                continue
            if previous.value in (OVER, EVEN) and kinds <= _SILENT | {"reference", "word"}:
                continue  # "the gaze offset this gain"
            if item.text != "and" and kinds.isdisjoint(_ENDS) and previous.value not in (OVER, EVEN):
                none, before = (other.kind == "effect" and other.sign == 0 for other in (item, previous))
                if before or item.kind != "effect" or ("target" in kinds and not none):
                    continue
                if kinds <= _SILENT or none:
                    marks[-1] = place
                    continue
        marks.append(place)
    return marks


def _cut(between: Sequence[Item], *, leads: bool, noted: bool) -> int:
    """Return where the second of two parts begins, as an index into the items between their effects."""
    kinds = [item.kind for item in between]
    breaks = [place for place, kind in enumerate(kinds) if kind in ("and", "comma", "reference", "result")]
    # ", and" is one break.
    breaks = [place for place in breaks if place - 1 not in breaks or kinds[place] != "and"]
    cues = [place for place, kind in enumerate(kinds) if kind == "cue"]
    caused = any(kind in ("cause", "clausal", "colon") for kind in kinds[: cues[0] if cues else 0])
    caused = caused or [item.text for item in between[:1]] == ["("]  # "openness up (posters)"
    if (noted or not breaks) and leads and kinds[-1:] == ["cue"]:
        return len(kinds)
    if not breaks:
        return 1 + max((place for place, kind in enumerate(kinds) if kind == "target"), default=-1)
    done = max((place for place in range(cues[0]) if kinds[place] in ("target", "pronoun")), default=-1) if cues else -1
    ahead = [place for place in breaks if place > done and "addition" not in kinds[:place]]
    if not caused and done >= 0 and ahead and ahead[0] < cues[0]:
        return ahead[0]  # "the light raised the score, the gaze wanders and harms it"
    if kinds[breaks[-1]] != "result" and all(kind in _QUIET or kind in _SEPARATORS for kind in kinds[breaks[-1] :]):
        return breaks[-1]
    if not cues:
        return breaks[0]
    if not caused:
        return (ahead or breaks)[0]
    later = [place for place in breaks if place > cues[0]] or breaks
    # "by the smile and the gaze, and the light ...": a comma separates more than "and", and both together most.
    return max(later, key=lambda place: (kinds[place] != "and", kinds[place + 1 : place + 2] == ["and"], place))
