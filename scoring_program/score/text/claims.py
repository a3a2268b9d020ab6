"""What a text claims: a cue and a word of direction in one part of a sentence. When in doubt, it is no claim.

``docs/language.md`` has the rules in plain words, ``lexicon.yaml`` the phrases.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal, cast

from score.text.phrases import LONGEST_TEXT, Meaning, Vocabulary, phrase_book, placed_sentences

Targets = tuple[tuple[str, int], ...]
"""Targets, and -1 for each whose opposite is named."""
_LEVELS = {"low": -1, "medium": 0, "high": 1}
_BREAKS = ("comma", "and", "contrast", "concession")
_REASONS = frozenset(["cause", "result", "concession", "flip", "removal", "effect"])
_NEAR = 3
"""Words between a weak cue and a strong one that hides it."""
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+%?|[+-]+")
_PAST = re.compile(r"\w+ed|fell|rose|lost|was|were|hit|hurt|sank|took|held|cost")


@dataclass(frozen=True)
class ReadPhrase:
    """A phrase of a sentence with its meaning."""

    meaning: Meaning
    start: int
    """Index of its first word in the sentence."""
    end: int
    """One past its last word."""
    text: str

    @property
    def kind(self) -> str:
        """See `Meaning.kind`."""
        return self.meaning.kind

    @property
    def sign(self) -> int:
        """Direction: that of an effect, or of a level."""
        return _LEVELS.get(self.meaning.value, self.meaning.sign)


@dataclass(frozen=True)
class TextClaim:
    """A claim that a cue, as it is in this clip, moved a target."""

    cue: str
    """One of the vocabulary's cues."""
    target: str
    """One of the vocabulary's targets."""
    sign: int
    """1: raised, -1: lowered."""


@lru_cache(maxsize=32)
def sentences(text: str, vocabulary: Vocabulary) -> tuple[tuple[ReadPhrase, ...], ...]:
    """Return the phrases of each sentence of a text; words without a meaning are left out."""
    return tuple(tuple(_items(sentence.tokens, vocabulary)) for sentence in placed_sentences(text[:LONGEST_TEXT]))


def _items(words: Sequence[str], vocabulary: Vocabulary) -> Iterator[ReadPhrase]:
    book, items, at = phrase_book(vocabulary), list[ReadPhrase](), 0
    minus = any(re.fullmatch(r"-\d.*", word) for word in words)
    while at < len(words):
        meaning, end = book.find(words, at) or (Meaning("other"), at + 1)
        if _NUMBER.fullmatch(words[at]):
            meaning = _number(words, at, plain=minus and bool(items) and items[-1].kind == "cue")
        if meaning.kind not in ("small", "word", "other"):
            items.append(ReadPhrase(meaning, at, end, " ".join(words[at:end])))
        at = end
    for number, item in enumerate(items):
        strong = [cue for cue in items[max(number - 1, 0) : number + 2] if cue.kind == "cue" and not cue.meaning.weak]
        near = [cue for cue in strong if cue.meaning.value != item.meaning.value]
        close = any(min(abs(cue.start - item.end), abs(item.start - cue.end)) <= _NEAR for cue in near)
        shown = item.kind == "target" and number > 0 and items[number - 1].kind == "indicate"
        if not item.meaning.weak or shown or (item.kind == "cue" and not close):
            yield item


def _number(words: Sequence[str], at: int, *, plain: bool) -> Meaning:
    """Return the meaning of a number: a sign, or the end of "from 0.62 to 0.55"; `plain` ones count as positive."""
    word = words[at]
    if word[0] in "+-":
        return Meaning("effect", "sign", 1 if word[0] == "+" else -1)
    if at > 1 and words[at - 1] == "to" and _NUMBER.fullmatch(words[at - 2]):
        before, after = (float(end.replace(",", ".").strip("%+-") or 0) for end in (words[at - 2], word))
        return Meaning("effect", "sign", (after > before) - (after < before))
    return Meaning("effect", "sign", 1) if plain else Meaning("other")


class ClaimReader:
    """Reads sentence by sentence and remembers what was named last."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._targets: Targets = ((vocabulary.main, 1),)
        self._cues: tuple[str, ...] = ()
        self._sign = 0
        self._tested = False
        self._signs: dict[tuple[str, str], set[int]] = {}

    def read(self, sentence: Sequence[ReadPhrase]) -> None:
        """Read one sentence."""
        kinds = {item.kind for item in sentence}
        doubted = "doubt" in kinds or ("if" in kinds and not kinds & {"flip", "removal"})
        for number, part in enumerate(_parts(sentence)):
            self._read_part(part, continued=number > 0, doubted=doubted)

    def claims(self) -> tuple[TextClaim, ...]:
        """Return the claims, each cue and target once; contradictory claims are dropped."""
        return tuple(
            TextClaim(cue, target, next(iter(signs)))
            for (cue, target), signs in self._signs.items()
            if len(signs) == 1 and cue in self._vocabulary.cues and target in self._vocabulary.targets
        )

    def _read_part(self, part: Sequence[ReadPhrase], *, continued: bool, doubted: bool) -> None:
        marks = _marks(part)
        left_out, conceded, own = _sorted_cues(part, marks)
        if conceded and not own and any(item.text == "which" for item in part):
            own, conceded = conceded, ()  # "despite the dim light, which lowered it"
        sign = self._direction(part, marks)
        targets = self._meant(part, marks)
        if not marks:
            before = [item.kind for item in takewhile(lambda item: item.kind != "cue", part)]
            # "The score is high. That is due to the smile", but not "the words were judged by ..."
            reasoned = (
                not continued and any(item.kind == "cause" and " " in item.text for item in part) and "cause" in before
            )
            sign = self._sign if (reasoned or conceded) and not _denied(part) else 0
        elif not own and not conceded and _goes_on(part, marks, continued=continued):
            own, sign = self._cues, 0 if self._tested else sign  # "we hid the smile. This lowered it"
        self._tested = any(item.kind == "removal" for item in part)
        if not doubted:
            for cues, direction in ((own, sign), (conceded, -sign)):
                for cue in cues if direction else ():
                    for target, turned in targets:
                        self._signs.setdefault((cue, target), set()).add(direction * turned)
        self._cues = own or conceded or left_out or self._cues
        self._sign = sign or next((mark.sign for mark in marks if mark.kind == "level"), 0)
        if any(item.kind == "target" and item.meaning.value not in ("generic", "main") for item in part):
            self._targets = targets

    def _direction(self, part: Sequence[ReadPhrase], marks: Sequence[ReadPhrase]) -> int:
        """Return the sign of a part; 0 if it is denied, unclear or not said."""
        kinds = {item.kind for item in part}
        levels = [mark for mark in marks if mark.kind == "level"]
        effects = [mark for mark in marks if mark not in levels]
        listed = any(item.kind == "colon" and levels and item.start >= levels[0].end for item in part)
        reasoned = levels if kinds & _REASONS or listed else []
        stated = [mark for mark in effects if mark.meaning.value != "part"] or reasoned or effects
        signs = {mark.sign for mark in stated}
        if len(signs) != 1 or _denied(part):
            return 0
        turn = -1 if kinds & {"flip", "removal"} else 1
        if turn > 0 and "without" in kinds and not all(_PAST.fullmatch(mark.text) for mark in stated):
            return 0
        return signs.pop() * turn

    def _meant(self, part: Sequence[ReadPhrase], marks: Sequence[ReadPhrase]) -> Targets:
        """Return the targets of a part: behind the word of direction, else before it, else those named last."""
        named = [item for item in part if item.kind == "target"]
        behind = [item for item in named if marks and item.start >= marks[0].start]
        close: list[ReadPhrase] = []
        for item in behind:
            between = [other.kind for other in part if (close or marks)[-1].end <= other.start < item.start]
            if "cue" in between or "cause" in between:
                break
            close.append(item)
        close = close or named[:1]
        clear = [item for item in close if item.meaning.value != "generic"] or close
        pairs = (pair for item in clear for pair in resolved(item, self._targets, self._vocabulary))
        return tuple(pairs) or self._targets


def resolved(item: ReadPhrase, latest: Targets, vocabulary: Vocabulary) -> Targets:
    """Return what a phrase for a target means; `latest`: what "the score" means."""
    match item.meaning.value:
        case "generic":
            return latest
        case "main":
            return ((vocabulary.main, 1),)
        case "all":
            return tuple((target, 1) for target in vocabulary.targets)
        case "traits":
            return tuple((target, 1) for target in vocabulary.targets if target != vocabulary.main)
        case target:
            return ((target, item.sign),)


def _parts(sentence: Sequence[ReadPhrase]) -> Iterator[Sequence[ReadPhrase]]:
    """Cut a sentence between two words of direction."""
    colon = next((number for number, item in enumerate(sentence) if item.kind == "colon"), 0)
    tested = {item.kind for item in sentence[:colon]}
    start = colon if tested & {"removal", "flip", "negation"} and "cue" not in tested else 0  # "I masked each cue:"
    directions = {mark.start for mark in _marks(sentence)}
    marks = [number for number, item in enumerate(sentence) if number >= start and item.start in directions]
    for first, second in pairwise(marks):
        breaks = [number for number in range(first + 1, second) if sentence[number].kind in _BREAKS and number > start]
        strong = [number for number in breaks if sentence[number].kind in ("contrast", "concession")]
        ahead = [number for number in breaks if sentence[number + 1].kind not in ("target", *_BREAKS)]
        behind = sentence[second + 1].kind if second + 1 < len(sentence) else ""
        last = [number for number in breaks if number + 1 == second and behind in ("cause", "colon", "cue")]
        signs = [sentence[number].meaning.value == "sign" for number in (first, second)]
        if all(signs) and not breaks:  # "+smile -light", "smile + light -"
            breaks = [second if sentence[0].meaning.value == "sign" else first + 1]
        for number in (strong or last or ahead or breaks)[:1]:
            yield sentence[start:number]
            start = number
    for number in range(max(start, marks[-1] if marks else 0) + 1, len(sentence)):
        rest = sentence[number:]
        listed = len(rest) > 1 and rest[1].kind == "target"  # "raised openness, extraversion and agreeableness"
        aside = rest[0].kind == "comma" and (_denied(rest) or not (listed or any(item.kind == "cue" for item in rest)))
        if rest[0].kind == "contrast" or aside:  # ", but the clothes did not matter", ", as hiding it shows"
            yield sentence[start:number]
            start = number
    if sentence[start:]:
        yield sentence[start:]


def _marks(items: Sequence[ReadPhrase]) -> list[ReadPhrase]:
    """Return the words of direction; one right before a cue describes it ("reduced motion")."""
    marks = []
    for item, after in zip(items, (*items[1:], None), strict=False):
        describes = after is not None and after.start == item.end and after.kind == "cue"
        direct = item.kind in ("effect", "level") and (item.meaning.value == "sign" or not describes)
        target = after if item.kind == "indicate" and after is not None and after.kind == "target" else None
        seems = target is not None and (target.meaning.weak or item.text in ("more", "less"))
        if direct or seems:
            marks.append(item)
    return marks


def _goes_on(part: Sequence[ReadPhrase], marks: Sequence[ReadPhrase], *, continued: bool) -> bool:
    """Tell whether a part without cues is about those before it: "which raised it", "and lowered it", "so it fell"."""
    if any(item.kind == "reference" for item in part):
        return True
    first = part[0] if part[0].kind not in _BREAKS else part[1]
    return continued and (first in marks or (first.kind == "result" and first is not part[0]))


def _denied(part: Sequence[ReadPhrase]) -> bool:
    """Tell whether a part is denied: not by "no smile", which tells what is missing."""
    return any(
        item.kind == "negation"
        and (item.text in ("neither", "nor", "nothing", "none", "nobody") or after is None or after.kind != "cue")
        for item, after in zip(part, (*part[1:], None), strict=False)
    )


def _sorted_cues(
    part: Sequence[ReadPhrase], marks: Sequence[ReadPhrase]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the cues behind "apart from", those behind "despite", and the others."""
    cues_by_mode: dict[str, list[str]] = {"exclusion": [], "concession": [], "": []}
    mode = ""
    for number, (before, item) in enumerate(zip((None, *part), part, strict=False)):
        if item.kind in ("exclusion", "concession"):
            clause = takewhile(lambda other: other.kind != "comma", part[number:])
            # "Although the light is dim", but not "although the light lowered it".
            mode = "" if item.meaning.value == "clause" and any(other in marks for other in clause) else item.kind
        elif item.text == "not" and before is not None and before.kind in ("comma", "and"):
            mode = "exclusion"
        elif item.kind == "comma" or item in marks:
            mode = "concession" if item.meaning.value == "over" else ""
        elif item.kind == "cue":
            cues_by_mode[mode].append(item.meaning.value)
    return tuple(tuple(dict.fromkeys(cues)) for cues in cues_by_mode.values())  # type: ignore[return-value]


Level = Literal["low", "medium", "high"]
BANDS: Mapping[str, tuple[float, float]] = {"low": (0.0, 0.45), "medium": (0.40, 0.60), "high": (0.55, 1.0)}
"""Bands on the unit scale; they overlap, so that values near a threshold fit both."""
_TURNED = {"low": "high", "medium": "medium", "high": "low"}


@dataclass(frozen=True)
class LevelStatement:
    """A statement about how high a target is."""

    target: str
    """One of the vocabulary's targets."""
    level: Level
    """The level in words; a number is not a level."""


def stated_levels(sentences: Iterable[Sequence[ReadPhrase]], vocabulary: Vocabulary) -> Iterable[LevelStatement]:
    """Yield every statement, except denied and hypothetical ones.

    "The score" and "it" mean the target named last, or else the main target.
    """
    latest: Targets = ((vocabulary.main, 1),)
    for sentence in sentences:
        for number, item in enumerate(sentence):
            if item.kind == "target":
                latest = resolved(item, latest, vocabulary)
            elif item.kind == "level" and not _no_statement(sentence, number):
                for target, orientation in _meant(sentence, number, latest, vocabulary):
                    level = item.meaning.value if orientation > 0 else _TURNED[item.meaning.value]
                    yield LevelStatement(target, cast(Level, level))


def _meant(sentence: Sequence[ReadPhrase], number: int, latest: Targets, vocabulary: Vocabulary) -> Targets:
    """Return the targets right behind a level ("low openness"), else those before it, else what "it" means."""
    item, behind = sentence[number], sentence[number + 1 : number + 2]
    if behind and behind[0].kind == "cue" and behind[0].start == item.end:
        return ()  # "low light"
    if behind and behind[0].kind == "target" and behind[0].start - item.end <= 1:
        return resolved(behind[0], latest, vocabulary)
    targets: Targets = ()
    for other in reversed(sentence[:number]):
        if other.kind == "target":
            targets = (*resolved(other, latest, vocabulary), *targets)
        elif other.kind == "effect":  # "raised openness, and agreeableness is high"
            return targets[-1:] or latest
        elif other.kind not in ("and", "comma", "pronoun", "indicate") and (
            targets or other.kind not in ("colon", "level")
        ):
            break
    it = any(other.kind == "pronoun" for other in sentence[:number])
    return targets or (latest if it else ())


def _no_statement(sentence: Sequence[ReadPhrase], number: int) -> bool:
    for other in reversed(sentence[:number]):
        if other.kind in ("comma", "contrast", "and"):
            return False
        if other.kind in ("flip", "negation"):
            return True
    return False


def consistent(prediction: Mapping[str, float], statements: Iterable[LevelStatement]) -> bool:
    """Whether a text states at least one level, and every level that it states contains the prediction.

    `prediction`: target to value, on the unit scale [0, 1]. `statements`: from `parse_levels`. Returns False without
    statements. A statement about a target without a prediction counts as a contradiction.

    >>> consistent({"interview": 0.62}, [LevelStatement("interview", "high")])
    True
    """
    judged = [BANDS[item.level][0] <= prediction.get(item.target, -1.0) <= BANDS[item.level][1] for item in statements]
    return bool(judged) and all(judged)
