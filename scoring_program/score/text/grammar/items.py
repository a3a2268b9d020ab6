"""A sentence as a sequence of items: cues, targets, effects, levels and connecting words."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from score.text.grammar.lexicon import CHANGE, EVEN, GENERIC, IT, LIKES, LIST, MAIN, MOVES, NOTE, OVER, WEAKENS
from score.text.grammar.phrases import Meaning, PhraseBook

_WORD = Meaning("word")
_SMALL = frozenset(["small", "auxiliary", "determiner"])
_QUIET = _SMALL | {"word"}
_DESCRIBING = frozenset(["small", "determiner", "word", "level", "comparative", "amount"])
_ENDS = frozenset(["end", "comma", "and"])
EFFECTIVE = frozenset(["effect", "comparative", "level"])
"""Kinds of items that say what happened to a score."""
_BREAKS = _ENDS | {"cause", "clausal", "contrast", "colon", "result"}
_CAUSES = frozenset(["cause", "clausal", "with"])
_STAGED = frozenset(["with", "when", "whenever", "if", "once", "after"])
_WHO = frozenset(["that", "which", "who"])
_SUBJECTS = _BREAKS | {"cue", "target", "pronoun", "reference"}
_ADJECTIVES = frozenset(["bright", "dark", "dim", "dull", "gloomy", "lively", "energetic", "cheerful", "tidy", "messy"])
_MOMENTS = frozenset(["as", "when", "whenever", "every", "each", "second", "between", "per"])
_LEADING = ("small", "determiner", "preposition")
_NEAR, _FAR = 3, 5
_LEAST, _LOW, _HIGH = 0.15, 0.45, 0.55
"""A bare number below the first is no score, below the second a low one, and above the third a high one."""
_WRITERS = frozenset(["i", "we", "you"])
_PEOPLE = frozenset(["he", "she", "they", "who", "person", "candidate", "speaker"])


Bonds = tuple[tuple[str, int], ...]
"""Names of targets, each with 1 or, for its opposite, -1."""


@dataclass(frozen=True)
class Item:
    """One phrase or word of a sentence."""

    kind: str
    """Kind of the item in the grammar."""
    value: str
    """A cue, a target or a level."""
    sign: int
    """Sign of an effect, a level or a target."""
    weak: bool
    """Whether it is a weak cue, or an adjective for a target."""
    text: str
    """First word, as written."""
    bound: Bonds = ()
    """Targets (name, orientation) that a level or a comparison is about."""
    tokens: tuple[int, ...] = field(default=(), compare=False)
    """Indices of its words in the sentence, ascending."""


def read_items(tokens: Sequence[str], book: PhraseBook) -> list[Item]:
    """Turn the tokens of a sentence into items."""
    items = []
    left = list(tokens)
    at = 0
    while at < len(tokens):
        found = book.find(left, at) if left[at] else None
        if left[at]:
            meaning = found.meaning if found else _sign(tokens[at])
            own = tuple(sorted(found.taken)) if found else (at,)
            items.append(Item(meaning.kind, meaning.value, meaning.sign, meaning.weak, tokens[at], tokens=own))
            for place in own:
                left[place] = ""
        at = found.end if found else at + 1
    for rule in _RULES:
        read = [rule(items, place) for place in range(len(items))]
        items = [item for item in read if item is not None]
    return items


def _sign(token: str) -> Meaning:
    """Return the sign of ``+0.08`` or ``+`` next to a cue, which means "raised"."""
    if token[0] in "+-–" and (len(set(token)) == 1 or any(digit in "123456789" for digit in token)):
        return Meaning("effect", NOTE, 1 if token[0] == "+" else -1)
    if re.fullmatch(r"[+-]?0\.0+", token):
        return Meaning("effect", NOTE)
    if _is_share(token):
        return Meaning("level", "number", (float(token) > _HIGH) - (float(token) < _LOW))
    return _WORD


def _is_share(text: str) -> bool:
    return re.fullmatch(r"0?\.\d+", text) is not None and float(text) >= _LEAST


def _demoted(item: Item) -> Item:
    return replace(item, kind="word", value="", sign=0, weak=False)


def _text_at(items: Sequence[Item], place: int) -> str:
    return items[place].text if 0 <= place < len(items) else ""


def _next(items: Sequence[Item], start: int, skipped: Container[str]) -> str:
    """Return the kind of the next item that is not skipped."""
    return next((other.kind for other in items[start:] if other.kind not in skipped), "end")


def _last(items: Sequence[Item], skipped: Container[str]) -> str:
    """Return the kind of the last item that is not skipped."""
    return _next(items[::-1], 0, skipped)


def _next_is_cue(items: Sequence[Item], start: int) -> bool:
    """Whether a cue follows, with only small and unknown words in between."""
    ahead = next((item for item in items[start:] if item.kind not in _DESCRIBING or item.text == "what"), None)
    return ahead is not None and ahead.kind == "cue"


def _with_full_names(items: Sequence[Item], place: int) -> Item | None:
    """Read "the score for openness", "points by openness" and "the openness prediction" as openness."""
    item = items[place]
    if item.value == GENERIC:
        beside = [*items[:place][-1:], *[other for other in items[place + 1 :] if other.kind != "colon"][:1]]
        named = any(other.kind == "target" and not other.weak for other in beside)
        return None if named or _leads_to_target(items, place + 1) else item
    return replace(item, kind="preposition") if _leads_to_target(items, place) else item


def _leads_to_target(items: Sequence[Item], place: int) -> bool:
    text = _text_at(items, place)
    leads = text in ("by", "for") or (0 < place < len(items) and items[place].kind == "preposition" and text != "from")
    ahead = [other for other in items[place + 1 : place + 4] if other.kind not in ("determiner", "small")]
    return leads and place > 0 and bool(ahead) and ahead[0].kind == "target" and not ahead[0].weak


def _with_adjectives(items: Sequence[Item], place: int) -> Item:
    """Keep an adjective such as "calm" as a target only after an impression or an amount."""
    item = items[place]
    if item.kind != "target":
        return item
    if _text_at(items, place + 1) in ("of", "in") and _next_is_cue(items, place + 2):
        return item if item.value in (GENERIC, MAIN) else _demoted(item)
    before = items[max(0, place - _FAR) : place]
    led = any(other.kind in ("indicate", "result", "amount") or other.text in ("look", "looks") for other in before)
    gentle = _next(items, place + 1, ()) == "effect"  # "a gentle push"
    return _demoted(item) if item.weak and (gentle or _next_is_cue(items, place + 1) or not led) else item


def _without_brackets(items: Sequence[Item], place: int) -> Item | None:
    """Move an effect in brackets right behind its cue: "a smile (+0.1), the light (down)"."""
    return None if items[place].text == "(" and _next(items, place + 1, ()) in EFFECTIVE else items[place]


def _with_states(items: Sequence[Item], place: int) -> Item:
    """Take effect words right before a cue as its description: "lowered eyes", "reduced motion"."""
    item = items[place]
    if item.value == LIKES and item.sign > 0 and _text_at(items, place - 1) in _WRITERS | {"he", "she"}:
        return _demoted(item)  # what the writer or the person liked
    if item.kind not in EFFECTIVE or item.value in (NOTE, LIST, OVER, EVEN, LIKES, "opposite"):
        return item
    if item.value == MOVES and _next(items, place + 1, _QUIET | {"preposition"}) not in ("target", "pronoun"):
        subjects = [other.kind for other in items[:place] if other.kind in _SUBJECTS and other.text not in _WHO]
        if subjects[-1:] == ["cue"] and all(other.kind != "removal" for other in items[:place]):
            return _demoted(item)  # "a voice that rises"
    judged = item.text in ("positive", "negative")
    if _next_is_cue(items, place + 1):
        of_cue = "of" in (_text_at(items, place + 1), _text_at(items, place + 2))
        if of_cue and (judged or len(item.tokens) > 1):
            return item
        owned = _text_at(items, place + 1) in ("of", "from", "for", "by") or item.text == "gain"
        return replace(_demoted(item), sign=item.sign if owned else 0)
    # "Her words are positive" describes them, "they are positive for openness" judges them.
    predicate = _last(items[:place], ("small", "word")) == "auxiliary" and _next(items, place + 1, ()) in _ENDS
    said = [other.value for other in items[:place] if other.kind == "cue"][-1:] in ([], ["words"])
    return _demoted(item) if judged and len(item.tokens) == 1 and predicate and said else item


def _with_acts(items: Sequence[Item], place: int) -> Item:
    """Distinguish changes to a clip ("hiding the smile lowered it") from actions of the person in it."""
    item = items[place]
    if item.kind not in ("removal", "hiding", "hidden"):
        return item
    if _text_at(items, place + 1) == "by" and _next_is_cue(items, place + 2):
        return replace(item, kind="effect", value=EVEN, sign=-1)  # "this gain was erased by the dim light"
    if item.text == "dropping" and not _next_is_cue(items, place + 1):
        return replace(item, kind="effect", value=MOVES, sign=-1)
    subject = _last(items[:place], _QUIET)
    scored = _next(items, place + 1, _QUIET | {"preposition"}) == "target"
    scored = scored and (subject in ("cue", "reference", "pronoun") or item.text in ("take", "took"))
    has = _text_at(items, place - 1) in ("has", "have", "had")
    moves = subject == "cue" and (item.text in ("take", "took") or item.text.endswith("s") or has)
    if (scored or moves) and all(other.text not in _STAGED for other in items[:place]):
        # "The flat voice suppressed extraversion and took off 0.02."
        return replace(item, kind="effect", value="", sign=-1)
    before = {other.text for other in items[max(0, place - 3) : place]}
    if before & _WRITERS:
        return replace(item, kind="removal")
    # "A blank wall", "the muted voice" describe the clip.
    led = place > 0 and items[place - 1].kind == "determiner" and _next(items, place + 1, ()) in ("cue", "comma")
    state = item.text.endswith(("ed", "en")) and _next_is_cue(items, place + 1)
    if before & _PEOPLE or state or (led and not item.text.endswith("ing")):
        return _demoted(item)
    if item.kind == "hiding":
        return replace(item, kind="doubt" if _text_at(items, place + 1) in ("his", "her", "their") else "removal")
    return item


def _without_circumstances(items: Sequence[Item], place: int) -> Item:
    """Leave out what another cue is done with or during: "fidgeting with a sleeve", "every few words"."""
    item = items[place]
    if item.kind != "cue":
        return item
    before = items[max(0, place - 4) : place]
    behind = [other.kind for other in items[place + 1 : place + 4]]
    if [other.text for other in before[-2:]] in (["like", "a"], ["like", "an"]):
        return _demoted(item)
    if item.weak and behind == ["comma", "word", "cue"] and item.text in _ADJECTIVES:
        return _demoted(item)  # "dull, repetitive wording"
    if item.value == "words":
        when = any(other.text in _MOMENTS and other.kind != "cause" for other in before)
        others = {other.value for other in items if other.kind == "cue"} - {"words"}
        return _demoted(item) if when and others else item
    loud = [other for other in items[:place] if other.kind not in _QUIET]
    acted = len(loud) > 1 and loud[-1].text == "with" and loud[-2].value == "motion"
    return _demoted(item) if acted and item.value in ("clothing", "background", "hair") else item


def _with_undone(items: Sequence[Item], place: int) -> Item:
    """Read "undid the benefit of the smile" as a loss after a gain, and "softened the blow" as a gain after a loss."""
    item = items[place]
    verb = next((other for other in reversed(items[:place]) if other.kind not in ("small", "determiner")), item)
    if item.kind != "effect" or verb is item or verb is items[place - 1]:
        return item
    lost = verb.kind == "effect" and verb.sign < 0 and verb.value in ("", WEAKENS)
    turned = lost and (item.sign > 0 or verb.value == WEAKENS)
    return replace(item, value=OVER, sign=-item.sign) if turned else item


def _with_changes(items: Sequence[Item], place: int) -> Item:
    """Read "from 0.62 to 0.55" and "0.55 instead of 0.62", about a score, as a sign."""
    if _is_share(_text_at(items, place)) and _is_share(_text_at(items, place + 2)):
        link = _text_at(items, place + 1)
        change = float(items[place + 2].text) - float(items[place].text)
        change = {"to": change, "so": change, "instead": -change, "rather": -change}.get(link, 0.0)
        if change and any(other.kind in ("target", "pronoun", "removal", "hidden") for other in items[:place]):
            return replace(items[place], kind="effect", value=CHANGE, sign=1 if change > 0 else -1)
    return items[place]


def _with_amounts(items: Sequence[Item], place: int) -> Item:
    """Read a number without a sign beside a cue as "+" where another has a minus: "smile 0.05, gaze -0.02"."""
    item = items[place]
    notes = [other.text for other in items if other.value == NOTE]
    signed = min(map(len, notes), default=1) > 1 and any(text[0] != "+" for text in notes)
    beside = [other.kind for other in items[max(0, place - 2) : place] if other.text != "("][-1:] == ["cue"]
    plain = beside and re.fullmatch(r"\d*\.\d*[1-9]\d*", item.text)
    valued = any(other.value == NOTE for other in items[place + 1 : place + 2])  # "smile 0.80 (+0.05)"
    return replace(item, kind="effect", value=NOTE, sign=1) if signed and plain and not valued else item


def _with_bonds(items: Sequence[Item], place: int) -> Item:
    """Tie levels and comparisons to their targets; those without a target describe something else."""
    item = items[place]
    following = _next(items, place + 1, _SMALL)
    counted = _text_at(items, place - 1)[:1].isdigit()
    if counted and item.kind in ("amount", "comparative") and not _target_after(items, place):
        return replace(item, kind="comparative", bound=_target_before(items, place) or ((GENERIC, 1),))
    if item.kind == "amount":
        bound = _target_after(items, place) or (_target_before(items, place) if following in _ENDS | _CAUSES else ())
        return replace(item, kind="comparative", bound=bound) if bound else replace(item, kind="small")
    return _bound(items, place, following) if item.kind in ("comparative", "level") else item


def _bound(items: Sequence[Item], place: int, following: str) -> Item:
    """Return a level or a comparison with its target, or as another kind of item."""
    item = items[place]
    bound = _target_after(items, place) or _target_before(items, place)
    alone = item.kind == "level" and all(other.kind in _QUIET for other in items[:place])
    named = following == "preposition" and _text_at(items, place + 1) == "for"
    before = items[place - 1 : place]
    if item.text in ("up", "down") and any(
        other.kind == "word" and other.text.endswith(("s", "ed")) for other in before
    ):
        return _demoted(item)  # "the score folds up"
    if item.value == "number" and ((following not in _BREAKS and not named) or items[place - 1].text == "by"):
        bound = ()
    elif alone and following in ("colon", "cause"):  # "low: no smile"
        bound = ((GENERIC, 1),)
    elif item.kind == "comparative" and not bound:
        imagined = _last(items[:place], _SMALL) == "flip" and _last(items[:place], (*_SMALL, "flip")) != "cue"
        bound = ((GENERIC, 1),) if imagined else ()
    if bound:
        return replace(item, bound=bound)
    if item.value == "act" and _counted(items, place):
        return replace(item, kind="effect", value="")  # "earned 0.05"
    if item.value == "act" and _next(items, place + 1, _QUIET) == "level":
        return replace(item, kind="result", value="")  # "earned her a high score"
    beside = [other for other in items[:place] if other.value != "number"]
    ended = following in _ENDS or _text_at(items, place + 1)[:1].isdigit()
    if item.kind == "comparative" and ended and _last(beside, ("colon", "result", "reference")) == "cue":
        return replace(item, kind="effect", value=NOTE)  # "smile up, light: down"
    if item.text in ("up", "down") and (following in _CAUSES or _counted(items, place)):
        return replace(item, kind="effect", value=MOVES)
    return _demoted(item)


def _with_impressions(items: Sequence[Item], place: int) -> Item:
    """Read "suggests warmth" as an effect on the suggested target."""
    item = items[place]
    if item.kind != "indicate":
        return item
    near = items[place + 1 : place + 1 + _FAR]
    ahead = [other for other in near if other.kind not in _QUIET | {"preposition", "negation"}]
    plain = bool(ahead) and ahead[0].kind == "target" and not (ahead[1:] and ahead[1].kind in EFFECTIVE)
    if plain and ahead[0].value == GENERIC:  # "the smile contributes to the score"
        plain = item.text.startswith("contribut") and any(other.kind == "cue" for other in items[:place])
    counted = item.text.startswith("contribut") and _counted(items, place)
    turned = plain and "negation" in {other.kind for other in near[: near.index(ahead[0])]}
    effect = replace(item, kind="effect", sign=-1 if turned else 1)  # "looks anything but careless"
    return effect if plain or counted else replace(item, kind="result")


def _counted(items: Sequence[Item], place: int) -> bool:
    """Whether a number is the object of a verb."""
    return next((item.text[0].isdigit() for item in items[place + 1 :] if item.kind not in _SMALL), False)


def _target_after(items: Sequence[Item], place: int) -> Bonds:
    """Return the whole object of "higher openness (+0.03) and agreeableness"."""
    found: list[tuple[str, int]] = []
    for at in range(place + 1, len(items)):
        other = items[at]
        if other.kind == "target":
            moved = found and _next(items, at + 1, _SMALL) in EFFECTIVE
            if moved and items[at + 1].value != NOTE:
                break
            found.append((other.value, other.sign))
        elif found and (other.kind in ("and", "comma") or other.value == NOTE):
            continue
        elif other.kind not in (*_LEADING, "" if found else "word") and other.text != "for":
            break
    return tuple(found)


def _target_before(items: Sequence[Item], place: int) -> Bonds:
    """Return the whole subject of "openness and agreeableness are high"."""
    found: list[tuple[str, int]] = []
    gap = 0
    for at in range(place - 1, -1, -1):
        other = items[at]
        if other.kind in ("target", "pronoun"):
            # "Raised extraversion and agreeableness is high": the first is an object.
            if found and _last(items[:at], ("determiner", "small")) == "effect":
                break
            found.append((other.value or IT, other.sign or 1))
        elif found and other.kind not in ("and", "comma", "determiner", "small"):
            break
        elif not found:
            gap += other.kind in ("word", "comma") or other.kind in EFFECTIVE
            if gap > _NEAR or other.kind in ("cue", "contrast", "cause", "clausal"):
                break
    return tuple(reversed(found))


_RULES: tuple[Callable[[Sequence[Item], int], Item | None], ...] = (
    _with_full_names,
    _with_adjectives,
    _without_brackets,
    _with_undone,
    _with_states,
    _with_acts,
    _without_circumstances,
    _with_changes,
    _with_amounts,
    _with_bonds,
    _with_impressions,
)
"""Rules, each applied to all items in turn; None drops an item."""
