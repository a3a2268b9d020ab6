"""The last gate before log and page: what their readers may see.

A phase is *closed* when its report does not open single clips (``report: clips: false``). Then nothing about a single
clip may leak, not even its id: an id in one place and an error in another can add up to a label. Texts are built
without such details; this gate catches oversights, and texts written by ingestion.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from score.errors import Problem

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CLIP_FILE = re.compile(r"\b(images|clips)/[^\s,;:]+")
_SHORTEST_SECRET = 4  # an id such as "12" reveals nothing, and hiding it would garble line numbers
_HIDDEN = "(clip)"


@dataclass(frozen=True)
class Audience:
    """Readers of one phase."""

    open: bool
    """Whether participants may see single clips."""
    clip_ids: frozenset[str] = frozenset()
    """Ids to hide where single clips are closed."""

    def knowing(self, clip_ids: Iterable[str]) -> "Audience":
        """Return the same readers with more ids to hide."""
        return replace(self, clip_ids=self.clip_ids | frozenset(clip_ids))

    def text(self, text: str) -> str:
        """Remove clip ids and clip files from a text where clips are closed."""
        if self.open:
            return text
        return _WORD.sub(self._word, _CLIP_FILE.sub(rf"\1/{_HIDDEN}", text))

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        return _HIDDEN if len(word) >= _SHORTEST_SECRET and word in self.clip_ids else word

    def problem(self, problem: Problem) -> Problem:
        """Remove clip ids and clip files from every text of a problem where clips are closed."""
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
"""The strictest audience, used until the settings are known."""
