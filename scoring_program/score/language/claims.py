"""Who raised what: the claims of a text about cues and targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from score.language.clauses import Predication, clauses, predications
from score.language.items import Item
from score.language.lexicon import ALL, FORMER, GENERIC, LATTER, LIST, MAIN, MOVES, NOTE, OVER, TRAITS
from score.language.vocabulary import TextClaim, Vocabulary

_SEPARATORS = frozenset(["and", "comma", "with", "addition", "colon", "cause"])
_QUIET = frozenset(["small", "auxiliary", "determiner"])
_SKIPPED = frozenset(
    [*_QUIET, "negation", "flip", "word", "preposition", "comma", "and", "colon", "addition", "result", "with"]
)
_UNNAMED = frozenset([GENERIC, FORMER, LATTER])
Targets = tuple[tuple[str, int], ...]


class ClaimReader:
    """Reads clause after clause and remembers what "it" and "this" stand for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._topic: Targets = ((vocabulary.main, 1),)
        self._latest: Targets = self._topic
        self._pair: Targets = self._topic
        self._fronted: Targets = ()
        self._cues: tuple[str, ...] = ()
        self._near: tuple[str, ...] = ()
        self._said: tuple[Targets, int] = (self._topic, 0)
        self._open = False
        self._excluded = False
        self._found: dict[tuple[str, str], set[int]] = {}

    def read(self, sentence: Sequence[Item]) -> None:
        """Read one sentence."""
        self._open = False
        self._fronted = ()
        for clause in clauses(sentence):
            parts = predications(clause)
            borrowed: Targets = ()
            for part in reversed(parts):
                borrowed = self._named(part.after) or borrowed
            for part in parts:
                self._predication(part, clause, borrowed if len(parts) > 1 else ())
            if not parts:
                self._without_effect(clause)
            self._open = True
        named = self._named(sentence)
        if len(named) > 1:
            self._pair = named

    def claims(self) -> tuple[TextClaim, ...]:
        """Return what was claimed, each cue and target once; who claims both ways claims nothing."""
        return tuple(
            TextClaim(cue, target, next(iter(signs)))
            for (cue, target), signs in self._found.items()
            if len(signs) == 1 and cue in self._vocabulary.cues and target in self._vocabulary.targets
        )

    def _without_effect(self, clause: Sequence[Item]) -> None:
        cues = mentions(clause)
        named = self._named(clause)
        added = any(item.kind == "addition" for item in clause)
        # "It was not the smile that raised it; it was the gaze."
        corrected = self._excluded and bool(clause) and clause[0].text == "it"
        if (added or corrected) and not any(item.kind == "negation" for item in clause):
            self._add(cues, *self._said)
        if cues:
            self._cues = self._near = cues
            self._said = (self._said[0], 0)
        if named:
            self._latest = named
            if clause[-1].kind == "colon" or not cues:
                self._topic = named

    def _predication(self, part: Predication, clause: Sequence[Item], borrowed: Targets) -> None:
        mark = part.mark
        before, conceded = _split_off(part.before, "concession")
        after, conceded_after = _split_off(part.after, "concession")
        subject = _subject(before)
        targets = self._targets(part, before, after, subject, borrowed)
        sign = self._sign(part, clause, subject)
        cues = self._causes(part, before, after, subject)
        if mark.kind == "level" and subject != "cue":
            self._topic = targets
        elif subject == "target" and (named := self._named(before)):
            self._topic = named
        if self._named((*before, *after)) or mark.bound:
            self._latest = targets
        if conceded and subject == "target" and not cues:
            conceded = tuple(before_concession(part.before))
        self._add(cues, targets, sign)
        self._add(mentions(conceded) + mentions(conceded_after), targets, -sign)
        if mark.value == OVER:
            self._add(mentions(after), targets, -mark.sign)
        self._cues = cues or self._cues
        self._near = mentions(after) or cues or self._near
        self._said = (targets, sign)
        self._excluded = any(item.kind == "exclusion" for item in part.before)
        self._open = True

    def _add(self, cues: Iterable[str], targets: Targets, sign: int) -> None:
        if sign == 0:
            return
        for cue in cues:
            for target, orientation in targets:
                self._found.setdefault((cue, target), set()).add(sign * orientation)

    def _sign(self, part: Predication, clause: Sequence[Item], subject: str) -> int:
        mark = part.mark
        sign = mark.sign * (self._said[1] if mark.value in ("same", "opposite") else 1)
        if mark.kind in ("level", "comparative") and mark.bound:
            sign = mark.sign
        if any(item.kind == "doubt" for item in clause[: clause.index(mark)]):
            return 0
        conditional = sum(item.kind == "flip" for item in (*part.before, *part.after))
        # "It would have helped more if ..." says that it helped.
        conditional *= not _by_degree(part.after)
        if _denied(part.before) or (mark.kind != "effect" and _denied_loosely(part.before)):
            # "It would not be as high without the smile" turns twice.
            return sign if conditional and mark.kind != "effect" and mark.text in ("so", "as", "high", "low") else 0
        nothing = any(item.kind == "negation" and item.text in ("neither", "nothing", "none") for item in part.before)
        if nothing and not any(item.kind == "exclusion" for item in part.before):
            return 0
        return -sign if conditional % 2 else sign

    def _causes(
        self, part: Predication, before: tuple[Item, ...], after: tuple[Item, ...], subject: str
    ) -> tuple[str, ...]:
        mark = part.mark
        caused = _after_cause(after, direct=False)
        here = mentions(before)
        if mark.kind == "level":
            return self._level_causes(before, after, caused)
        if mark.value == NOTE:
            return here[-1:] or mentions(after)[:1]
        if mark.value == LIST:
            return here if subject == "cue" else mentions(after)
        explained = any(item.kind == "result" for item in before)
        if mark.value == MOVES and subject == "cue" and not explained and not self._named_at_all(after):
            return caused
        directly = _after_cause(after, direct=True)
        if directly and (subject != "cue" or (after and after[0].text in ("by", "because", "due", "thanks"))):
            return directly
        if subject == "cue" or (here and subject in ("reference", "none", "unknown")):
            return here + _additions(after)
        if subject == "pronoun" and self._named_at_all(after):
            return caused or here or self._cues
        if subject in ("target", "pronoun"):
            return caused or here or self._unclaimed(before)
        if subject == "reference":
            return caused or mentions(before, excluded=True) or _linked(after) or self._near
        if subject == "none" and after and after[0].text == "by":
            return caused
        if caused or (found := _linked(after)):
            return caused or found
        return self._cues if subject == "none" and self._open else ()

    def _level_causes(
        self, before: tuple[Item, ...], after: tuple[Item, ...], caused: tuple[str, ...]
    ) -> tuple[str, ...]:
        if caused:
            return caused
        linked = [item for item in before if item.kind in ("cause", "clausal", "result", "flip")]
        if not linked:
            return ()
        here = mentions(before)
        if here:
            return here
        if any(item.kind == "auxiliary" for item in after) and mentions(after):
            return mentions(after)
        return self._unclaimed(before)

    def _unclaimed(self, before: Sequence[Item]) -> tuple[str, ...]:
        """Return the cues that "so" and "as a result" point back to, if nothing was said of them yet."""
        pointed = any(item.kind == "result" for item in before) and self._said[1] == 0
        return self._cues if pointed else ()

    def _targets(
        self, part: Predication, before: tuple[Item, ...], after: tuple[Item, ...], subject: str, borrowed: Targets
    ) -> Targets:
        if part.mark.bound:
            return self._resolved(part.mark.bound)
        own = _group(after)
        if subject in ("target", "pronoun") and not any(value not in (GENERIC, "it") for value, _ in own):
            own = _group_before(before) or own
        explicit = tuple(pair for pair in own if pair[0] not in (GENERIC, "it"))
        if explicit:
            return self._resolved(explicit)
        fronted = self._named(before)
        if fronted:
            self._fronted = fronted
            return fronted
        if not own and (borrowed or self._fronted):
            return borrowed or self._fronted
        return self._resolved(own) if own else self._topic

    def _named(self, items: Sequence[Item]) -> Targets:
        """Return the targets that are called by name."""
        pairs = tuple((item.value, item.sign) for item in items if item.kind == "target" and item.value not in _UNNAMED)
        return self._resolved(pairs) if pairs else ()

    @staticmethod
    def _named_at_all(items: Sequence[Item]) -> bool:
        return any(item.kind in ("target", "pronoun") for item in items)

    def _resolved(self, pairs: Targets) -> Targets:
        result: list[tuple[str, int]] = []
        for value, orientation in pairs:
            if value == "it":
                result += self._latest
            elif value == GENERIC:
                result += self._topic
            elif value in (FORMER, LATTER):
                result.append(self._pair[0 if value == FORMER else -1])
            elif value == MAIN:
                result.append((self._vocabulary.main, orientation))
            elif value in (ALL, TRAITS):
                result += [
                    (name, 1) for name in self._vocabulary.targets if value == ALL or name != self._vocabulary.main
                ]
            else:
                result.append((value, orientation))
        return tuple(dict.fromkeys(result))


def mentions(items: Sequence[Item], *, excluded: bool = False) -> tuple[str, ...]:
    """Return the cues that are named, without those that are excluded or only describe another cue.

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
    found: list[str] = []
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
        found += [item.value for _, item in kept]
    return tuple(dict.fromkeys(found))


def _modifies(items: Sequence[Item], head: int, place: int) -> bool:
    return any(
        item.kind == "preposition" or item.text in ("of", "in", "from", "behind") for item in items[head + 1 : place]
    )


def _by_degree(after: Sequence[Item]) -> bool:
    for item in after:
        if item.text in ("more", "further", "less"):
            return True
        if item.kind not in ("target", "pronoun", *_QUIET):
            return False
    return False


def _linked(after: Sequence[Item]) -> tuple[str, ...]:
    """Return the cues of "what helped was the smile"."""
    auxiliary = any(item.kind == "auxiliary" for item in after)
    return mentions(after) if auxiliary or (after and after[0].text in ("of", "did")) else ()


def _subject(before: Sequence[Item]) -> str:
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


def _after_cause(after: Sequence[Item], *, direct: bool) -> tuple[str, ...]:
    """Return the cues behind the first "by", "because of", "with" or colon after an effect."""
    for place, item in enumerate(after):
        if item.kind == "cue":
            return ()
        if item.kind in ("cause", "clausal", "with") or (item.kind == "colon" and not direct):
            return mentions(after[place + 1 :])
        if direct and item.kind not in _QUIET:
            return ()
    return ()


def _additions(after: Sequence[Item]) -> tuple[str, ...]:
    """Return cues that are added behind the effect: "..., and so did the gaze", "not the smile but the gaze"."""
    for place, item in enumerate(after):
        if item.kind == "addition":
            return mentions(after[place + 1 :]) or mentions(after[:place])
        if item.kind == "comma" and item.value == "but":
            return mentions(after[place + 1 :])
        if item.kind == "cue" and any(other.text == "by" for other in after[place + 1 : place + 2]):
            return (item.value,)
    return ()


def _group(after: Sequence[Item]) -> Targets:
    """Return the targets right behind an effect, before any cue or cause."""
    found: list[tuple[str, int]] = []
    for item in after:
        if item.kind in ("cue", "cause", "clausal", "reference", "colon", "addition") and item.text != "for":
            break
        if item.kind in ("target", "pronoun"):
            found.append((item.value or "it", item.sign or 1))
    return tuple(found)


def _group_before(before: Sequence[Item]) -> Targets:
    return tuple((item.value or "it", item.sign or 1) for item in before if item.kind in ("target", "pronoun"))


def _split_off(items: Sequence[Item], kind: str) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Part "despite the dim light," from the rest: up to the next comma or target."""
    rest: list[Item] = []
    off: list[Item] = []
    inside = False
    for item in items:
        if item.kind == kind:
            inside = True
        elif inside and off and (item.kind in ("comma", "target", "pronoun") and any(o.kind == "cue" for o in off)):
            inside = False
            rest.append(item)
        elif inside:
            off.append(item)
        else:
            rest.append(item)
    return tuple(rest), tuple(off)


def before_concession(before: Sequence[Item]) -> list[Item]:
    """Return everything behind "despite" where the subject of the effect is a score."""
    place = next(place for place, item in enumerate(before) if item.kind == "concession")
    return list(before[place + 1 :])


def _denied(before: Sequence[Item]) -> bool:
    """Whether a negation stands right before the effect: "did not really raise"."""
    for item in reversed(before):
        if item.kind == "negation":
            return True
        if item.kind not in _QUIET and item.kind != "flip" and item.text not in ("to", "help", "helped"):
            return False
    return False


def _denied_loosely(before: Sequence[Item]) -> bool:
    for item in reversed(before):
        if item.kind == "negation":
            return True
        if item.kind in ("cue", "target", "comma"):
            return False
    return False
