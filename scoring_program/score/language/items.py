"""A sentence as a row of items: cues, targets, effects, levels and the words that tie them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from score.language.lexicon import IT, LIST, MOVES, NOTE, OVER
from score.language.phrases import Meaning, PhraseBook

_WORD = Meaning("word")
_SMALL = frozenset(["small", "auxiliary", "determiner"])
_QUIET = frozenset(["small", "auxiliary", "determiner", "word"])
_EFFECTIVE = frozenset(["effect", "comparative", "level"])
_CAUSES = frozenset(["cause", "clausal", "with"])
_FAR = 5


@dataclass(frozen=True)
class Item:
    """One phrase or word of a sentence."""

    kind: str
    """Part of the grammar."""
    value: str
    """A cue, a target or a level."""
    sign: int
    """Of an effect, a level or a target."""
    weak: bool
    """A weak cue, or an adjective for a target."""
    text: str
    """First word, as written."""
    bound: tuple[tuple[str, int], ...] = ()
    """Targets (name, orientation) that a level or a comparison is about."""
    tokens: tuple[int, ...] = field(default=(), compare=False)
    """Numbers of its words in the sentence, ascending."""


def read_items(tokens: Sequence[str], book: PhraseBook) -> list[Item]:
    """Turn the tokens of a sentence into items."""
    items = []
    taken: set[int] = set()
    left = list(tokens)
    at = 0
    while at < len(tokens):
        if at in taken:
            at += 1
            continue
        found = book.find(left, at)
        meaning = found.meaning if found else _signed_number(tokens[at])
        own = tuple(sorted(found.taken)) if found else (at,)
        items.append(Item(meaning.kind, meaning.value, meaning.sign, meaning.weak, tokens[at], tokens=own))
        if found:
            taken |= found.taken
            for place in found.taken:
                left[place] = ""
        at = found.end if found else at + 1
    items = _without_adjectives(_without_both(items))
    items = _without_states(items)
    return _with_bonds(items)


def _without_both(items: list[Item]) -> list[Item]:
    """Let "both" refer to something only where it stands alone: not in "both the smile and the gaze"."""
    result = list(items)
    for place, item in enumerate(items):
        if item.text == "both":
            ahead = (other.kind for other in items[place + 1 :] if other.kind not in ("determiner", "small", "word"))
            if next(ahead, "") in ("cue", "target"):
                result[place] = replace(item, kind="small")
    return result


def _signed_number(token: str) -> Meaning:
    """``+0.08`` after a cue says the same as "raised"."""
    if token[0] in "+-" and any(digit in "123456789" for digit in token):
        return Meaning("effect", NOTE, 1 if token[0] == "+" else -1)
    return _WORD


def _demoted(item: Item) -> Item:
    return replace(item, kind="word", value="", sign=0, weak=False)


def _next_is_cue(items: list[Item], start: int, words: int) -> bool:
    """Whether a cue follows with nothing but small words, and at most `words` unknown ones, in between."""
    for item in items[start:]:
        if item.kind == "cue":
            return True
        if item.kind == "auxiliary" or item.kind not in _QUIET | {"level", "comparative", "amount"}:
            return False
        words -= item.kind == "word"
        if words < 0:
            return False
    return False


def _without_adjectives(items: list[Item]) -> list[Item]:
    """Keep an adjective such as "calm" as a target only where an impression or an amount leads to it."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind != "target":
            continue
        after = items[place + 1 : place + 3]
        of_cue = bool(after) and after[0].text in ("of", "in") and _next_is_cue(items, place + 2, 0)
        if of_cue and item.value not in ("generic", "main"):
            result[place] = _demoted(item)
        elif item.weak:
            before = items[max(0, place - _FAR) : place]
            leads = any(
                other.kind in ("indicate", "result", "amount") or other.text in ("look", "looks") for other in before
            )
            if _next_is_cue(items, place + 1, 0) or not leads:
                result[place] = _demoted(item)
    return result


def _without_states(items: list[Item]) -> list[Item]:
    """Take effect words right before a cue as its description: "lowered eyes", "reduced motion"."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind in _EFFECTIVE and item.value not in (NOTE, LIST, OVER) and _next_is_cue(items, place + 1, 1):
            result[place] = replace(item, kind="and") if item.text == "plus" else _demoted(item)
    return result


def _with_bonds(items: list[Item]) -> list[Item]:
    """Tie levels and comparisons to their targets; those without a target describe something else."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind == "amount":
            bound = _target_after(items, place, reach=1)
            result[place] = replace(item, kind="comparative", bound=bound) if bound else replace(item, kind="small")
        elif item.kind in ("comparative", "level"):
            # "Lower" is also a verb: "what did lower it".
            verb = item.text == "lower" and items[place + 1 : place + 2] and items[place + 1].kind == "pronoun"
            bound = ((IT, 1),) if verb else _target_after(items, place, reach=3) or _target_before(items, place)
            moves = item.text in ("up", "down") and items[place + 1 : place + 2] and items[place + 1].kind in _CAUSES
            if not bound and moves:
                result[place] = replace(item, kind="effect", value=MOVES)
            else:
                result[place] = replace(item, bound=bound) if bound else _demoted(item)
    for place, item in enumerate(result):
        if item.kind == "indicate":
            ahead = result[place + 1 : place + 1 + _FAR]
            quiet = 0
            while quiet < len(ahead) and ahead[quiet].kind in _QUIET | {"preposition", "negation"}:
                quiet += 1
            plain = quiet < len(ahead) and ahead[quiet].kind == "target"
            further = ahead[quiet + 1 : quiet + 2]
            if plain and not (further and further[0].kind in _EFFECTIVE) and ahead[quiet].value != "generic":
                result[place] = replace(item, kind="effect", sign=1)
            else:
                result[place] = replace(item, kind="result")
    return result


def _target_after(items: list[Item], place: int, reach: int) -> tuple[tuple[str, int], ...]:
    for other in items[place + 1 :]:
        if other.kind == "target":
            return ((other.value, other.sign),)
        if other.kind not in _QUIET | {"preposition"} and other.text != "for":
            return ()
        if other.kind == "auxiliary":
            return ()
        reach -= other.kind == "word"
        if reach < 0:
            return ()
    return ()


def _target_before(items: list[Item], place: int) -> tuple[tuple[str, int], ...]:
    """Return the subject of "openness and agreeableness are high", all of it."""
    found: list[tuple[str, int]] = []
    gap = 0
    for at in range(place - 1, -1, -1):
        other = items[at]
        if other.kind in ("target", "pronoun"):
            if found and _is_object(items, at):
                break
            found.append((other.value or IT, other.sign or 1))
        elif found and other.kind not in ("and", "comma", "determiner", "small"):
            break
        elif not found:
            gap += other.kind in ("word", "comma") or other.kind in _EFFECTIVE
            if gap > _FAR or other.kind in ("cue", "contrast", "cause", "clausal"):
                break
            if other.kind == "and" and not _joined_levels(items, place):
                break
    return tuple(reversed(found))


def _is_object(items: list[Item], place: int) -> bool:
    """Whether an effect stands right before: "raised extraversion and agreeableness is high"."""
    before = [other for other in items[:place] if other.kind not in ("determiner", "small")]
    return bool(before) and before[-1].kind == "effect"


def _joined_levels(items: list[Item], place: int) -> bool:
    """Whether a level directly continues another one: "medium to high", "high, very high"."""
    before = [other.kind for other in items[max(0, place - 3) : place]]
    return "level" in before
