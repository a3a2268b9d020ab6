"""The claims of a text about cues and targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from score.text.grammar.clauses import Part, parts_of
from score.text.grammar.items import Item
from score.text.grammar.lexicon import CHANGE, EVEN, GENERIC, IT, LIKES, MOVES, NOTE, OVER
from score.text.grammar.referents import Referents
from score.text.grammar.regions import (
    QUIET,
    Targets,
    co_subjects,
    denied,
    mentions,
    next_named,
    objects_of,
    own_clause,
    split_at,
    split_concession,
    subject_of,
    targets_in,
    without_denied,
)
from score.text.grammar.vocabulary import TextClaim, Vocabulary

_GOES_ON = frozenset(["clausal", "cause", "with", "and", "comma", "cue", "determiner", "addition"])
_PAUSES = ("comma", "colon")
_REASONS = frozenset(["reason", "reasons", "cause", "causes", "driver", "drivers"])
_DOES = frozenset(["do", "does", "did", "has", "have", "had", "to", "can", "could", "may", "might", "will", "must"])
_DEFINITE = frozenset(["the", "his", "her", "their", "its", "this", "that", "these", "those"])


class ClaimReader:
    """Reads sentence by sentence and remembers what was mentioned."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._referents = Referents(vocabulary)
        self._cues: tuple[str, ...] = ()
        """Cues of the previous part, which are the subject of "and lowered it"."""
        self._near: tuple[str, ...] = ()
        """Cues named last: "which" and "this"."""
        self._said: tuple[Targets, int] = (self._referents.latest, 0)
        """Targets and sign of the previous effect: "and so did the gaze"."""
        self._gone = False
        """Whether the cues of the previous part were removed: "we hid the smile, and this lowered it"."""
        self._excluded = False
        """Whether the previous effect was denied for a cue: "it was not the smile that ..."."""
        self._explained = False
        """Whether the previous effect was stated as a result: "a bright wall makes openness go up"."""
        self._found: dict[tuple[str, str], set[int]] = {}

    def read(self, sentence: Sequence[Item]) -> None:
        """Read one sentence."""
        continued = False
        # "Ablation: smile -0.05, gaze +0.03" is about all that follows.
        heading = tuple(item for item, other in pairwise(sentence) if item.kind == "removal" and other.kind == "colon")
        for parts in parts_of(sentence):
            self._explained = False
            # "The smile raised, the gaze lowered openness": the last target belongs to all effects.
            borrowed: Targets = ()
            for part in reversed(parts[1:]):
                borrowed = self._referents.named(part.after) or borrowed
            doubted = False
            for cut in parts:
                part = replace(cut, before=(*heading, *cut.before))
                doubted = doubted or any(item.kind == "doubt" for item in part.before)
                if part.mark is None:
                    self._without_effect(part.before, continued=continued)
                else:
                    self._with_effect(part, part.mark, borrowed, continued=continued, doubted=doubted)
                doubted = doubted or any(item.kind == "doubt" for item in part.after)
                continued = True
        self._referents.end_sentence(sentence)

    def claims(self) -> tuple[TextClaim, ...]:
        """Return the claims, each cue and target once; contradictory claims are dropped."""
        return tuple(
            TextClaim(cue, target, next(iter(signs)))
            for (cue, target), signs in self._found.items()
            if len(signs) == 1 and cue in self._vocabulary.cues and target in self._vocabulary.targets
        )

    def _without_effect(self, clause: Sequence[Item], *, continued: bool) -> None:
        cues = mentions(clause)
        too = any(item.kind == "addition" for item in clause)
        corrected = self._excluded and clause[0].text == "it"
        # "The score is high. That is due to the smile."
        pairs = list(pairwise((*clause, clause[-1])))
        due = not continued and any(
            (item.kind == "cause" and (len(item.tokens) > 1 or other.kind == "colon")) or clause[-1].text in _REASONS
            for item, other in pairs
        )
        named_so = (too or corrected or due) and all(
            item.kind != "negation" or other.kind in ("determiner", "word", "cue") for item, other in pairs
        )
        if named_so:
            self._add(cues, *self._said)
        if cues:
            self._cues = self._near = cues
            self._said = (self._said[0], self._said[1] if named_so else 0)
            self._gone = any(item.kind == "removal" for item in clause)
        named = self._referents.named(clause)
        if named:
            self._referents.latest = named

    def _with_effect(self, part: Part, mark: Item, borrowed: Targets, *, continued: bool, doubted: bool) -> None:
        edited = any(item.kind == "edit" for item in part.before)
        sign = 0 if doubted or edited else self._sign(part, mark)
        before, conceded = split_concession(part.before)
        after, conceded_after = split_concession(part.after)
        after = without_denied(after)
        targets = self._targets(mark, before, after, borrowed)
        if mark.value == OVER:
            cues = mentions(before)
            self._add(mentions(after), targets, -mark.sign)
        elif mark.value == EVEN:
            passive = any(item.text == "by" for item in after)
            own, other = (after, before) if passive else (before, after)
            cues = mentions(own)
            sign *= self._known(mentions(other), targets)
        else:
            cues = self._causes(mark, before, after, continued=continued)
        if mentions(before) or mentions(after):
            self._gone = any(item.kind == "removal" for item in (*before, *after))
        elif self._gone and not _caused_by_it(after):  # not "... is high thanks to it"
            results = [item for item in before if item.kind == "result"]
            # "We hid the smile and it fell": the smile, or the score?
            sign = -sign if all(item.text not in ("it", "they") for item in before) else sign if results else 0
        self._add(cues, targets, sign)
        if denied(before) and after and after[-1].text in ("did", "does"):
            # "The gaze did not lower it, the posture did."
            self._add(mentions(split_at(after, _PAUSES)[-1]), targets, mark.sign)
        self._add(mentions(conceded) + mentions(conceded_after), targets, -sign)
        named = self._referents.named(before)
        if named or mark.bound or self._referents.named(after):
            self._referents.latest = targets
        self._cues = () if edited else cues or self._cues
        self._near = () if edited else mentions(after) or cues or self._near
        self._said = (targets, sign)
        self._excluded = any(item.kind == "exclusion" for item in before)
        self._explained = any(
            item.kind == "result" or (item.kind == "colon" and mentions(before[:place]))
            for place, item in enumerate(before)
        )

    def _known(self, cues: Iterable[str], targets: Targets) -> int:
        """Return the known sign of the cues; without cues, that of the previous effect."""
        signs = {sign for cue in cues for target, _ in targets for sign in self._found.get((cue, target), {0})}
        return sum(signs or {self._said[1]}) if len(signs) < 2 else 0

    def _add(self, cues: Iterable[str], targets: Targets, sign: int) -> None:
        if sign == 0:
            return
        for cue in cues:
            for target, orientation in targets:
                self._found.setdefault((cue, target), set()).add(sign * orientation)

    def _sign(self, part: Part, mark: Item) -> int:
        before = part.before
        sign = mark.sign * (self._said[1] if mark.value in ("same", "opposite") else 1)
        if any(item.kind == "word" and item.sign == -mark.sign for item in before):
            return 0  # "the loss from the pauses was recovered"
        least = [item for item in part.after if item.kind not in ("determiner", "auxiliary")][:1]
        if any(item.text in ("nothing", "none", "less", "least") for item in least):
            return 0  # "cost her nothing", "increased less"
        turn = _turn(part, mark)
        if turn < 0 and any(item.text == "more" for item in least):
            return 0  # "the dark room would have cost more"
        if turn < 0 and self._gone and mark.value in ("same", "opposite"):
            turn = 1  # "hiding the smile lowers it; muting the voice does the same"
        if denied(before):
            # "It would not be as high without the smile" reverses the sign twice.
            return sign if turn < 0 and mark.kind != "effect" and mark.text in ("so", "as", "high", "low") else 0
        # "Nothing but the smile raised it."
        so = max((place for place, item in enumerate(before) if item.text == "so"), default=0)
        own = before[so:]
        left = [item.kind for item in own if item.text in ("neither", "nothing", "none") or item.kind == "exclusion"]
        if left[-1:] == ["negation"]:
            return 0
        return sign * turn

    def _causes(self, mark: Item, before: Sequence[Item], after: Sequence[Item], *, continued: bool) -> tuple[str, ...]:
        """Return the cues of an effect: all around it, or those that "which" and "so" refer to."""
        # In "a dark wall, one dim lamp: the lighting cost points", only the last cue counts.
        colon = max((place for place, item in enumerate(before) if item.kind == "colon"), default=-1)
        here = (mentions(own_clause(before[colon + 1 :])) or mentions(before)) + mentions(after)
        kinds = {item.kind for item in (*before, *after)}
        reasoned = not kinds.isdisjoint(("cause", "clausal", "with", "colon", "result"))
        subject = subject_of(before)
        supposed = mark.value != "number" and not kinds.isdisjoint(("flip", "removal"))
        if mark.kind == "level" and not reasoned and not supposed:
            return ()
        given = next((item.kind in ("cause", "clausal") for item in after if item.kind not in QUIET), False)
        if here:
            # "... and a deduction for the gaze" says nothing about earlier cues.
            return (mentions(after) if given else ()) or here
        if (
            subject == "reference"
            or _caused_by_it(after)
            or _caused_by_it(before)
            or (mark.value == LIKES and after and after[-1].kind in ("reference", "pronoun"))
        ):
            return mentions(before, excluded=True) or self._near
        passive = any(item.kind == "auxiliary" and item.text not in _DOES for item in before[-3:])
        acts = mark.kind == "effect" and mark.value != MOVES and not passive
        if subject == "pronoun" and (acts or targets_in(after)):
            return self._cues
        if subject == "none":
            caused = any(item.kind == "cause" and item.text != "from" for item in after)
            return self._cues if continued and not caused else ()
        explains = any(item.kind == "result" for item in (*before, *after))
        too = mark.text in ("up", "down") and before[0].kind == "and"
        if subject == "target" and continued and (explains or self._explained or too):
            return self._cues  # "bright wall -> openness up, conscientiousness down"
        return self._cues if explains and self._said[1] == 0 else ()

    def _targets(self, mark: Item, before: Sequence[Item], after: Sequence[Item], borrowed: Targets) -> Targets:
        referents = self._referents
        subject = subject_of(before)
        # "It took a knock for such carelessness" is about conscientiousness, its subject.
        moved = subject == "target" and after and after[0].text == "for"
        own = mark.bound or (() if moved else objects_of(after))
        if subject == "target" and (also := co_subjects(after)):
            return referents.resolved((*targets_in(before), *also))
        fronted = referents.named(before)
        clear = tuple(pair for pair in own if pair[0] not in (GENERIC, IT))
        if clear or (mark.bound and not fronted):
            return referents.resolved(mark.bound or clear)
        referents.fronted = fronted or referents.fronted
        if mark.value in ("same", "opposite", EVEN):
            return fronted or self._said[0]
        said = targets_in(before) if subject in ("target", "pronoun") else ()
        near = fronted or referents.resolved(said or own) or referents.named(after)
        return near or borrowed or referents.fronted or referents.latest


def _caused_by_it(after: Sequence[Item]) -> bool:
    kinds = pairwise(item.kind for item in after)
    return any(one in ("cause", "with") and other in ("reference", "pronoun") for one, other in kinds)


def _turn(part: Part, mark: Item) -> int:
    """Return -1 if a cue is removed or only imagined, 1 if it is as in the clip, 0 if unclear."""
    groups = [*split_at(part.before, _PAUSES), *split_at(_without_aside(part.after), _PAUSES)]
    items = [item for group in groups for item in group]
    kinds = {item.kind for item in items}
    # Not in "she kept every trace of a smile from the camera".
    prevented = [at for at, item in enumerate(items) if item.kind == "prevent" and next_named(items[at:]) != "cue"]
    if any(denied(items[:at]) for at in prevented):
        return 0
    sense = -1 if len(prevented) % 2 else 1
    staged = any(item.value == "when" or item.text in ("if", "with", "after") for item in items)
    if staged and any(_is_unknown_act(group) for group in groups):
        return 0
    taken = [group for group in groups if any(item.kind == "removal" for item in group)]
    aimed = any(item.kind == "cue" or item.text == "without" for group in taken for item in group)
    if taken and mark.value != NOTE and "cue" in kinds and not aimed:
        return 0
    # "Would" affects only the words around it: not in "nobody would invite him: the voice lowered the score".
    around = (*split_at(part.before, _PAUSES)[-1], *split_at(part.after, _PAUSES)[0])
    would = any(item.kind == "flip" for item in takewhile(lambda item: item.text != "than", around))
    if taken or ("hidden" in kinds and staged) or would:
        return -sense
    if any(item.kind == "cause" and item.text == "if" for item in items) or (staged and "absent" in kinds):
        return -sense if mark.value == CHANGE and "absent" in kinds else 0
    for group, place, item in [(some, *pair) for some in groups for pair in enumerate(some)]:
        if item.kind == "cause" and item.text == "without" and any(other.kind == "cue" for other in group[place:]):
            # "Without the smile it is lower" is an experiment, "without a smile it fell" describes the clip.
            definite = place + 1 < len(group) and group[place + 1].text in _DEFINITE
            now = mark.value == NOTE or mark.text.endswith("s")
            now = now or any(other.text in ("is", "are") for other in part.before[-3:])
            return (-sense if now else 0) if definite else sense if not now or mark.kind == "level" else 0
    return sense


def _is_unknown_act(group: Sequence[Item]) -> bool:
    """Whether something unknown is done to a cue: "when the light is dulled", "after dulling the light"."""
    loud = [item for item in group if item.kind not in ("small", "determiner") and not item.text.endswith("ly")]
    triples = list(zip(loud, loud[1:], loud[2:], strict=False))
    done = any(
        [cue.kind, be.kind, act.kind] == ["cue", "auxiliary", "word"] and act.text.endswith(("ed", "en"))
        for cue, be, act in triples
    )
    doing = (
        [item.kind for item in loud[1:3]] == ["word", "cue"] and loud[0].kind != "word" and loud[1].text.endswith("ing")
    )
    return done or doing


def _without_aside(after: Sequence[Item]) -> Sequence[Item]:
    """Leave out remarks on the method: ", as hiding it shows", "and I tried this by hiding it"."""
    for place, (item, other) in enumerate(pairwise(after)):
        if item.kind in ("and", "comma") and other.kind not in _GOES_ON:
            return after[:place]
    return after
