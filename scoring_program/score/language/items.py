"""A sentence as a row of items: cues, targets, effects, levels and the words that tie them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from score.language.lexicon import CHANGE, EVEN, GENERIC, IT, LIKES, LIST, MOVES, NOTE, OVER
from score.language.phrases import Meaning, PhraseBook

_WORD = Meaning("word")
_SMALL = frozenset(["small", "auxiliary", "determiner"])
_QUIET = frozenset(["small", "auxiliary", "determiner", "word"])
_DESCRIBING = frozenset(["small", "determiner", "word", "level", "comparative", "amount"])
_ENDS = frozenset(["end", "comma", "and"])
_EFFECTIVE = frozenset(["effect", "comparative", "level"])
_BREAKS = _ENDS | {"cause", "clausal", "contrast", "colon", "result"}
_CAUSES = frozenset(["cause", "clausal", "with"])
_STAGED = frozenset(["with", "when", "whenever", "if", "once", "after"])
_FAR = 5
_LOW, _HIGH = 0.45, 0.55
"""Numbers that are low or high by themselves, as reasons are given for them."""
_WRITERS = frozenset(["i", "we", "you"])
_PEOPLE = frozenset(["he", "she", "they", "who", "person", "candidate", "speaker"])


Bonds = tuple[tuple[str, int], ...]
"""Names of targets, each with 1 or, for its opposite, -1."""


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
    bound: Bonds = ()
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
        meaning = found.meaning if found else _sign(tokens[at])
        own = tuple(sorted(found.taken)) if found else (at,)
        items.append(Item(meaning.kind, meaning.value, meaning.sign, meaning.weak, tokens[at], tokens=own))
        if found:
            taken |= found.taken
            for place in found.taken:
                left[place] = ""
        at = found.end if found else at + 1
    items = _without_adjectives(_named_in_full(_without_both(items)))
    return _with_bonds(_with_changes(_without_acts(_without_states(_without_brackets(items)))))


def _named_in_full(items: list[Item]) -> list[Item]:
    """Read "the score for openness", "points by openness" and "the openness prediction" as openness."""
    result: list[Item] = []
    for place, item in enumerate(items):
        ahead = [other for other in items[place + 1 : place + 5] if other.kind not in ("determiner", "small")][:2]
        leads = item.text in ("by", "for") or item.kind == "preposition"
        if leads and item.text != "from" and ahead and ahead[0].kind == "target" and not ahead[0].weak and result:
            if result[-1].value == GENERIC:  # "the score for openness"
                result.pop()
            item = replace(item, kind="preposition")
        full = item.value == GENERIC and result and result[-1].kind == "target" and not result[-1].weak
        if not full:
            result.append(item)
    return result


def _with_changes(items: list[Item]) -> list[Item]:
    """Read "from 0.62 to 0.55" and "0.55 instead of 0.62", said of a score, as a sign."""
    result = list(items)
    scored = False
    for place, (item, link, other) in enumerate(zip(items, items[1:], items[2:], strict=False)):
        scored = scored or item.kind in ("target", "pronoun", "removal", "hidden")
        if scored and item.text[0] == other.text[0] == "0" and link.text in ("to", "so", "instead", "rather"):
            change = float(other.text) - float(item.text)
            change = change if link.text in ("to", "so") else -change
            result[place] = replace(item, kind="effect", value=CHANGE, sign=(change > 0) - (change < 0))
            result[place + 2] = _demoted(other)
    return result


def _without_brackets(items: list[Item]) -> list[Item]:
    """Let an effect in brackets stand right behind its cue: "a smile (+0.1), the light (down)"."""
    ahead = (*items[1:], None)
    return [
        item
        for item, other in zip(items, ahead, strict=True)
        if item.text != "(" or not other or other.kind not in _EFFECTIVE
    ]


def _without_acts(items: list[Item]) -> list[Item]:
    """Tell what is done to a clip ("hiding the smile lowered it") from what a person in it does."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind not in ("removal", "hiding", "hidden"):
            continue
        before = [other.text for other in items[max(0, place - 3) : place]]
        ahead = [other.kind for other in items[place + 1 :] if other.kind not in _QUIET | {"preposition"}]
        subject = [other.kind for other in items[:place] if other.kind not in _QUIET][-1:]
        if item.kind == "removal" and items[place + 1 : place + 2] and items[place + 1].text == "by" and _next_is_cue(items, place + 2):
            result[place] = replace(item, kind="effect", value=EVEN, sign=-1)  # "this gain was erased by the dim light"
            continue
        staged = any(other.text in _STAGED for other in items[:place])
        if subject and subject[0] in ("cue", "reference", "pronoun") and not staged and (
            ahead[:1] == ["target"] or (subject == ["cue"] and (item.text == "took" or item.text.endswith("s")))
        ):
            # "The flat voice suppressed extraversion and took off 0.02."
            result[place] = replace(item, kind="effect", value="", sign=-1)
            continue
        own = [other.text for other in items[place + 1 : place + 2]] in (["his"], ["her"], ["their"])
        if not _WRITERS.isdisjoint(before):
            result[place] = replace(item, kind="removal")
        elif not _PEOPLE.isdisjoint(before) or (item.text.endswith(("ed", "en")) and _next_is_cue(items, place + 1)):
            result[place] = _demoted(item)
        elif item.kind == "hiding":
            result[place] = replace(item, kind="doubt" if own else "removal")
    return result


def _without_both(items: list[Item]) -> list[Item]:
    """Let "this" and "both" refer to something only where they stand alone: not in "both the smile and the gaze"."""
    result = list(items)
    for place, item in enumerate(items[:-1]):
        following = items[place + 1]
        noun = following.kind in ("cue", "target") or (
            following.kind == "word" and following.text not in _PEOPLE | _WRITERS and not following.text.endswith("ly")
        )
        if item.text == "both":
            ahead = (other.kind for other in items[place + 1 :] if other.kind not in ("determiner", "small", "word"))
            if next(ahead, "") in ("cue", "target"):
                result[place] = replace(item, kind="small")
        elif item.text in ("this", "that", "these", "those") and len(item.tokens) == 1 and noun:
            result[place] = replace(item, kind="determiner")
        elif item.text == "too" and len(item.tokens) == 1 and following.kind in ("small", "word", "cue", "level"):
            result[place] = replace(item, kind="small")
    return result


def _sign(token: str) -> Meaning:
    """``+0.08`` or ``+`` beside a cue says the same as "raised"."""
    if token[0] in "+-–" and (len(set(token)) == 1 or any(digit in "123456789" for digit in token)):
        return Meaning("effect", NOTE, 1 if token[0] == "+" else -1)
    if re.fullmatch(r"[+-]?0\.0+", token):
        return Meaning("effect", NOTE)
    if re.fullmatch(r"0\.\d+", token):
        return Meaning("level", "number", (float(token) > _HIGH) - (float(token) < _LOW))
    return _WORD


def _demoted(item: Item) -> Item:
    return replace(item, kind="word", value="", sign=0, weak=False)


def _next_is_cue(items: list[Item], start: int) -> bool:
    """Whether a cue follows with nothing but small and unknown words in between."""
    for item in items[start:]:
        if item.kind == "cue":
            return True
        if item.text == "what" or item.kind not in _DESCRIBING:
            return False
    return False


def _without_adjectives(items: list[Item]) -> list[Item]:
    """Keep an adjective such as "calm" as a target only where an impression or an amount leads to it."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind != "target":
            continue
        after = items[place + 1 : place + 3]
        of_cue = bool(after) and after[0].text in ("of", "in") and _next_is_cue(items, place + 2)
        if of_cue and item.value not in ("generic", "main"):
            result[place] = _demoted(item)
        elif item.weak:
            before = items[max(0, place - _FAR) : place]
            leads = any(
                other.kind in ("indicate", "result", "amount") or other.text in ("look", "looks") for other in before
            )
            if _next_is_cue(items, place + 1) or not leads:
                result[place] = _demoted(item)
    return result


def _without_states(items: list[Item]) -> list[Item]:
    """Take effect words right before a cue as its description: "lowered eyes", "reduced motion"."""
    result = list(items)
    for place, item in enumerate(items):
        if item.value == LIKES and item.sign > 0 and place and items[place - 1].text in _WRITERS:
            result[place] = _demoted(item)  # what the writer liked
        if item.kind not in _EFFECTIVE or item.value in (NOTE, LIST, OVER, LIKES):
            continue
        judged = item.text in ("positive", "negative")
        if _next_is_cue(items, place + 1):
            if not (judged or len(item.tokens) > 1) or all(other.text != "of" for other in items[place + 1 : place + 3]):
                result[place] = _demoted(item)
        elif judged and len(item.tokens) == 1 and _is_predicate(items, place):
            result[place] = _demoted(item)
    return result


def _is_predicate(items: list[Item], place: int) -> bool:
    """Whether a sign only describes ("her words are positive"), and does not judge ("they are positive for it")."""
    before = [other for other in items[:place] if other.kind != "small"]
    ended = place + 1 == len(items) or items[place + 1].kind in ("comma", "and")
    return bool(before) and before[-1].kind == "auxiliary" and ended


def _with_bonds(items: list[Item]) -> list[Item]:
    """Tie levels and comparisons to their targets; those without a target describe something else."""
    result = list(items)
    for place, item in enumerate(items):
        following = next((other.kind for other in items[place + 1 :] if other.kind not in _SMALL), "end")
        counted = place > 0 and items[place - 1].text[0].isdigit()
        if counted and item.kind in ("amount", "comparative") and not _target_after(items, place):
            result[place] = replace(item, kind="comparative", bound=_target_before(items, place) or ((GENERIC, 1),))
        elif item.kind == "amount":
            bound = _target_after(items, place) or (_target_before(items, place) if following in _ENDS else ())
            result[place] = replace(item, kind="comparative", bound=bound) if bound else replace(item, kind="small")
        elif item.kind in ("comparative", "level"):
            result[place] = _bound(items, place, following)
    return [_meant(result, place) if item.kind == "indicate" else item for place, item in enumerate(result)]


def _bound(items: list[Item], place: int, following: str) -> Item:
    """Return a level or a comparison with its target, or what else it is."""
    item = items[place]
    bound = _target_after(items, place) or _target_before(items, place)
    if item.text == "lower" and following == "pronoun":  # "what did lower it"
        bound = ((IT, 1),)
    elif item.value == "number" and (following not in _BREAKS or items[place - 1].text == "by"):
        bound = ()
    elif (
        item.kind == "level"
        and following in ("colon", "cause")
        and all(other.kind in _QUIET for other in items[:place])
    ):
        bound = ((GENERIC, 1),)  # "low: no smile"
    elif item.kind == "comparative" and not bound:
        would = [other.kind for other in items[:place] if other.kind not in _SMALL][-1:] == ["flip"]
        bound = ((GENERIC, 1),) if would else ()
    if bound:
        return replace(item, bound=bound)
    if item.text in ("up", "down") and following in _CAUSES:
        return replace(item, kind="effect", value=MOVES)
    numbered = place + 1 < len(items) and items[place + 1].text[0].isdigit()
    beside = [other.kind for other in items[:place] if other.kind not in ("colon", "result", "reference") and other.value != "number"][-1:]
    if item.kind == "comparative" and beside == ["cue"] and (following in _ENDS or numbered):  # "smile up, light: down"
        return replace(item, kind="effect", value=NOTE)
    return _demoted(item)


def _meant(items: list[Item], place: int) -> Item:
    """Take "suggests warmth" as an effect on what is suggested."""
    ahead = [
        other for other in items[place + 1 : place + 1 + _FAR] if other.kind not in _QUIET | {"preposition", "negation"}
    ]
    plain = ahead and ahead[0].kind == "target"
    if plain and ahead[0].value == GENERIC:
        plain = items[place].text.startswith("contribut") and any(other.kind == "cue" for other in items[:place])
    if plain and not (ahead[1:] and ahead[1].kind in _EFFECTIVE):
        return replace(items[place], kind="effect", sign=1)
    return replace(items[place], kind="result")


def _target_after(items: list[Item], place: int) -> Bonds:
    for other in items[place + 1 :]:
        if other.kind == "target":
            return ((other.value, other.sign),)
        if other.kind not in ("small", "determiner", "word", "preposition") and other.text != "for":
            return ()
    return ()


def _target_before(items: list[Item], place: int) -> Bonds:
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
    return tuple(reversed(found))


def _is_object(items: list[Item], place: int) -> bool:
    """Whether an effect stands right before: "raised extraversion and agreeableness is high"."""
    return [other.kind for other in items[:place] if other.kind not in ("determiner", "small")][-1:] == ["effect"]
