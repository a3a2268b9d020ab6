"""Who reads the log and the page, and what they may therefore hold: the last gate before anything is shown.

A phase is *closed* when its report does not open single clips (``report: clips: false``). Then nothing about one clip
may get out, its id included: an id in one place and an error in another are a label in the end. Every text is first
built without such things; this gate is for the one that was forgotten, and for what ingestion wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from score.errors import Problem

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CLIP_FILE = re.compile(r"\b(images|clips)/[^\s,;:]+")
_SHORTEST_SECRET = 4  # an id such as "12" is no secret, and hiding it would garble every line number
_HIDDEN = "(clip)"


@dataclass(frozen=True)
class Audience:
    """Readers of one phase."""

    open: bool
    """Whether single clips are open to participants."""
    clip_ids: frozenset[str] = frozenset()
    """Ids that must not be shown where single clips are closed."""

    def knowing(self, clip_ids: Iterable[str]) -> Audience:
        """Return the same readers, with more ids to be kept from them."""
        return replace(self, clip_ids=self.clip_ids | frozenset(clip_ids))

    def text(self, text: str) -> str:
        """Take clip ids and clips' files out of a text, where they are closed."""
        if self.open:
            return text
        return _WORD.sub(self._word, _CLIP_FILE.sub(rf"\1/{_HIDDEN}", text))

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        return _HIDDEN if len(word) >= _SHORTEST_SECRET and word in self.clip_ids else word

    def problem(self, problem: Problem) -> Problem:
        """Take clip ids and clips' files out of every text of a problem, where they are closed."""
        if self.open:
            return problem
        return replace(
            problem,
            code=self.text(problem.code),
            where=self.text(problem.where),
            found=self.text(problem.found),
            expected=self.text(problem.expected),
            fix=self.text(problem.fix),
        )


NOBODY = Audience(open=False)
"""Before the settings are known: the most careful reading."""
