"""Who raised what: the claims of a text about cues and targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from score.language.clauses import Predication, clauses, predications
from score.language.items import Item
from score.language.lexicon import GENERIC, IT, LIST, MOVES, NOTE, OVER
from score.language.referents import Referents
from score.language.regions import (
    Targets,
    added,
    by_degree,
    caused_by,
    denied,
    denied_loosely,
    linked,
    mentions,
    objects_of,
    split_concession,
    subject_of,
    targets_in,
)
from score.language.vocabulary import TextClaim, Vocabulary


class ClaimReader:
    """Reads sentence after sentence and remembers what was spoken of."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._referents = Referents(vocabulary)
        self._cues: tuple[str, ...] = ()
        """Of the effect, or the clause without one, before: what "and lowered it" goes on with."""
        self._near: tuple[str, ...] = ()
        """Named last: "which" and "this"."""
        self._said: tuple[Targets, int] = (self._referents.topic, 0)
        """What the effect before did to what: "and so did the gaze"."""
        self._continued = False
        """Whether this clause goes on with a sentence."""
        self._excluded = False
        """Whether the effect before was said not to come from a cue: "it was not the smile that ..."."""
        self._found: dict[tuple[str, str], set[int]] = {}

    def read(self, sentence: Sequence[Item]) -> None:
        """Read one sentence."""
        self._continued = False
        for clause in clauses(sentence):
            parts = predications(clause)
            # "The smile raised, the gaze lowered openness": what comes last is what all are about.
            borrowed: Targets = ()
            for part in reversed(parts[1:]):
                borrowed = self._referents.named(part.after) or borrowed
            for part in parts:
                self._predication(part, clause, borrowed)
                self._continued = True
            if not parts:
                self._without_effect(clause)
            self._continued = True
        self._referents.end_sentence(sentence)

    def claims(self) -> tuple[TextClaim, ...]:
        """Return what was claimed, each cue and target once; who claims both ways claims nothing."""
        return tuple(
            TextClaim(cue, target, next(iter(signs)))
            for (cue, target), signs in self._found.items()
            if len(signs) == 1 and cue in self._vocabulary.cues and target in self._vocabulary.targets
        )

    def _without_effect(self, clause: Sequence[Item]) -> None:
        cues = mentions(clause)
        too = any(item.kind == "addition" for item in clause)
        corrected = self._excluded and clause[0].text == "it"
        if (too or corrected) and not any(item.kind == "negation" for item in clause):
            self._add(cues, *self._said)
        if cues:
            self._cues = self._near = cues
            self._said = (self._said[0], 0)
        named = self._referents.named(clause)
        if named:
            self._referents.latest = named
            if clause[-1].kind == "colon" or not cues:
                self._referents.topic = named

    def _predication(self, part: Predication, clause: Sequence[Item], borrowed: Targets) -> None:
        mark = part.mark
        sign = self._sign(part, clause)
        before, conceded = split_concession(part.before)
        after, conceded_after = split_concession(part.after)
        part = replace(part, before=before, after=after)
        subject = subject_of(before)
        targets = self._targets(part, subject, borrowed)
        cues = self._causes(part, subject)
        self._add(cues, targets, sign)
        self._add(mentions(conceded) + mentions(conceded_after), targets, -sign)
        if mark.value == OVER:
            self._add(mentions(after), targets, -mark.sign)
        named = self._referents.named(before)
        if mark.kind == "level" and subject != "cue":
            self._referents.topic = targets
        elif subject == "target" and named:
            self._referents.topic = named
        if named or mark.bound or self._referents.named(after):
            self._referents.latest = targets
        self._cues = cues or self._cues
        self._near = mentions(after) or cues or self._near
        self._said = (targets, sign)
        self._excluded = any(item.kind == "exclusion" for item in before)

    def _add(self, cues: Iterable[str], targets: Targets, sign: int) -> None:
        if sign == 0:
            return
        for cue in cues:
            for target, orientation in targets:
                self._found.setdefault((cue, target), set()).add(sign * orientation)

    def _sign(self, part: Predication, clause: Sequence[Item]) -> int:
        mark, before = part.mark, part.before
        sign = mark.sign * (self._said[1] if mark.value in ("same", "opposite") else 1)
        if any(item.kind == "doubt" for item in clause[: clause.index(mark)]):
            return 0
        turns = 0 if by_degree(part.after) else sum(item.kind == "flip" for item in (*before, *part.after))
        if denied(before) or (mark.kind != "effect" and denied_loosely(before)):
            # "It would not be as high without the smile" turns twice.
            return sign if turns and mark.kind != "effect" and mark.text in ("so", "as", "high", "low") else 0
        nothing = any(item.kind == "negation" and item.text in ("neither", "nothing", "none") for item in before)
        if nothing and not any(item.kind == "exclusion" for item in before):
            return 0
        return -sign if turns % 2 else sign

    def _causes(self, part: Predication, subject: str) -> tuple[str, ...]:
        mark, before, after = part.mark, part.before, part.after
        here = mentions(before)
        if mark.kind == "level":
            return self._level_causes(part)
        if mark.value == NOTE:
            return here[-1:] or mentions(after)[:1]
        if mark.value == LIST:
            return here if subject == "cue" else mentions(after)
        if mark.value == MOVES and subject == "cue" and not _explains(before) and not targets_in(after):
            return caused_by(after)
        directly = caused_by(after, direct=True)
        if directly and (subject != "cue" or after[0].text in ("by", "because", "due", "thanks")):
            return directly
        if here and subject in ("cue", "reference", "none", "unknown"):
            return here + added(after)
        return self._causes_elsewhere(part, subject)

    def _causes_elsewhere(self, part: Predication, subject: str) -> tuple[str, ...]:
        """Return the cues of an effect whose subject is no cue."""
        before, after = part.before, part.after
        caused = caused_by(after)
        if subject == "pronoun" and targets_in(after):
            return caused or mentions(before) or self._cues
        if subject in ("target", "pronoun"):
            return caused or mentions(before) or self._unclaimed(before)
        if subject == "reference":
            return caused or mentions(before, excluded=True) or linked(after) or self._near
        if subject == "none" and after and after[0].text == "by":
            return caused
        continued = subject == "none" and self._continued
        return caused or linked(after) or (self._cues if continued else ())

    def _level_causes(self, part: Predication) -> tuple[str, ...]:
        """Return the cues that are given as reasons of a level; "a smile, and the score is high" gives none."""
        caused = caused_by(part.after)
        if caused or not any(item.kind in ("cause", "clausal", "result", "flip") for item in part.before):
            return caused
        return mentions(part.before) or linked(part.after) or self._unclaimed(part.before)

    def _unclaimed(self, before: Sequence[Item]) -> tuple[str, ...]:
        """Return the cues that "so" and "as a result" point back to, if nothing was said of them yet."""
        return self._cues if _explains(before) and self._said[1] == 0 else ()

    def _targets(self, part: Predication, subject: str, borrowed: Targets) -> Targets:
        referents = self._referents
        own = part.mark.bound or objects_of(part.after)
        if subject in ("target", "pronoun") and not any(value not in (GENERIC, IT) for value, _ in own):
            own = part.mark.bound or targets_in(part.before) or own
        explicit = tuple(pair for pair in own if pair[0] not in (GENERIC, IT))
        if part.mark.bound or explicit:
            return referents.resolved(part.mark.bound or explicit)
        fronted = referents.named(part.before)
        referents.fronted = fronted or referents.fronted
        return fronted or (referents.resolved(own) if own else borrowed or referents.fronted or referents.topic)


def _explains(before: Sequence[Item]) -> bool:
    return any(item.kind == "result" for item in before)
