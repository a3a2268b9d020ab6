"""Find the phrases of a lexicon in a sentence: the longest one at each place, in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_GAP = "..."
_LONGEST_GAP = 6
_SHORTEST_STEM = 2
_MOST_SMALL_WORDS = 3
_STOPPERS = frozenset([*",:()", "and", "but", "because", "while", "which", "not", "never", "no", "nothing", "hardly"])


@dataclass
class _Node:
    exact: dict[str, _Node] = field(default_factory=dict)
    stems: dict[str, _Node] = field(default_factory=dict)
    gap: _Node | None = None
    value: Meaning | None = None


@dataclass(frozen=True)
class Meaning:
    """The meaning of a phrase."""

    kind: str
    """Kind in the grammar, such as ``cue`` or ``effect``."""
    value: str = ""
    """A cue, a target or a level; empty for words of the grammar."""
    sign: int = 0
    """Sign of an effect, or -1 for the opposite of a target: 1, -1 or 0."""
    weak: bool = False
    """Whether it is a cue that counts only without a strong one nearby, or an adjective for a target."""


_State = tuple[_Node, int, tuple[int, ...], int, int]


@dataclass(frozen=True)
class FoundPhrase:
    """A phrase found in a sentence."""

    meaning: Meaning
    """Its meaning."""
    taken: frozenset[int]
    """Indices of its tokens, without a gap inside it."""
    end: int
    """Index after its last token before a gap."""


class PhraseBook:
    """Phrases and their meanings; the first meaning of a phrase counts."""

    def __init__(self, small_words: Iterable[str]) -> None:
        self._root = _Node()
        self._small = frozenset(small_words)

    def add(self, phrase: str, meaning: Meaning) -> None:
        """Add one phrase in the lexicon's notation."""
        node = self._root
        for part in phrase.lower().split():
            if part == _GAP:
                node.gap = node.gap or _Node()
                node = node.gap
            elif part.endswith("*"):
                node = node.stems.setdefault(part[:-1], _Node())
            else:
                node = node.exact.setdefault(part, _Node())
        node.value = node.value or meaning

    def find(self, tokens: Sequence[str], start: int) -> FoundPhrase | None:
        """Return the longest phrase that begins at token `start`, or None."""
        best: FoundPhrase | None = None
        best_rank = (0, 0, 0)
        # Each state: node, next token, taken tokens, end before the first gap (-1: no gap yet), exact words.
        states = _step(self._root, tokens, start, (), -1, 0)
        while states:
            node, at, taken, end, exact = states.pop()
            if node.value is not None and (len(taken), exact, -at) > best_rank:
                best_rank = (len(taken), exact, -at)
                best = FoundPhrase(node.value, frozenset(taken), at if end < 0 else end)
            if node.gap is not None:
                for far in range(at, min(at + _LONGEST_GAP, len(tokens))):
                    states += _step(node.gap, tokens, far, taken, at if end < 0 else end, exact)
                    if tokens[far] in _STOPPERS:
                        break
            if node.exact or node.stems:
                for far in range(at, min(at + 1 + _MOST_SMALL_WORDS, len(tokens))):
                    states += _step(node, tokens, far, taken, end, exact)
                    if tokens[far] not in self._small and not tokens[far].endswith("ly"):
                        break
        return best


def _step(node: _Node, tokens: Sequence[str], at: int, taken: tuple[int, ...], end: int, exact: int) -> list[_State]:
    word = tokens[at]
    steps: list[_State] = []
    if word in node.exact:
        steps.append((node.exact[word], at + 1, (*taken, at), end, exact + 1))
    if node.stems:
        for length in range(_SHORTEST_STEM, len(word) + 1):
            stem = node.stems.get(word[:length])
            if stem is not None:
                steps.append((stem, at + 1, (*taken, at), end, exact))
    return steps
