"""What "it", "the score" and "the former" stand for."""

from __future__ import annotations

from collections.abc import Sequence

from score.text.grammar.items import Item
from score.text.grammar.lexicon import ALL, FORMER, GENERIC, IT, LATTER, MAIN, TRAITS
from score.text.grammar.regions import Targets
from score.text.grammar.vocabulary import Vocabulary

_UNNAMED = frozenset([GENERIC, FORMER, LATTER])


class Referents:
    """The targets mentioned so far."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.latest: Targets = ((vocabulary.main, 1),)
        """Targets named last: "it", "the score", and what a claim without a target is about."""
        self.fronted: Targets = ()
        """Targets named at the start of this sentence: "on openness, the smile helped and the light hurt"."""
        self._pair: Targets = self.latest

    def end_sentence(self, sentence: Sequence[Item]) -> None:
        """Remember what "the former" and "the latter" mean in the next sentence."""
        self.fronted = ()
        named = self.named(sentence)
        if len(named) > 1:
            self._pair = named

    def named(self, items: Sequence[Item]) -> Targets:
        """Return the targets that are named."""
        return self.resolved(
            tuple((item.value, item.sign) for item in items if item.kind == "target" and item.value not in _UNNAMED)
        )

    def resolved(self, pairs: Targets) -> Targets:
        """Replace words that refer to targets by these targets."""
        result: list[tuple[str, int]] = []
        for value, orientation in pairs:
            result += self._standing_for(value) or ((value, orientation),)
        return tuple(dict.fromkeys(result))

    def _standing_for(self, value: str) -> Targets:
        names = self._vocabulary.targets
        main = self._vocabulary.main
        meanings = {
            IT: self.latest,
            GENERIC: self.latest,
            FORMER: self._pair[:1],
            LATTER: self._pair[-1:],
            MAIN: ((main, 1),),
            ALL: tuple((name, 1) for name in names),
            TRAITS: tuple((name, 1) for name in names if name != main),
        }
        return meanings.get(value, ())
