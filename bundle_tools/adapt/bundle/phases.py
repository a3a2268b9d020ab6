"""The two phases of a generated bundle: sizes, dates and limits, as the texts and `competition.yaml` name them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bundle_tools.adapt.dataset import Part

LASTS = {False: timedelta(days=89), True: timedelta(days=14)}
"""How long an open and a closed phase last."""
GAP = timedelta(days=1)
"""Between phases: Codabench wants one to start after the other has ended, and version 1 knows no other gap."""
LIMITS = {False: (10, 200), True: (2, 6)}
"""Submissions a day and in all, of an open and a closed phase."""
SHOWS = {
    False: "The report shows every clip with its true values, your predictions and your explanations.",
    True: "Labels are hidden; logs and outputs are closed, and the report shows averages only.",
}


@dataclass(frozen=True)
class PhaseFacts:
    """What is said of a part."""

    name: str
    """Of its folders."""
    title: str
    """As people read it."""
    clips: int
    """Clips in it."""
    people: int
    """People or source videos in it."""
    closed: bool
    """Whether labels and single clips are hidden."""
    start: str = ""
    """When it starts, UTC; empty for public data."""
    end: str = ""
    """When it ends, UTC; empty for public data."""

    @classmethod
    def of(cls, part: Part, start: str = "", end: str = "") -> "PhaseFacts":
        """Count what a part holds."""
        sources = {clip.source for clip in part.clips}
        return cls(part.name, part.name.capitalize(), len(part.clips), len(sources), part.closed, start, end)

    @property
    def shows(self) -> str:
        """What participants see of it."""
        return SHOWS[self.closed]

    @property
    def a_day(self) -> int:
        """Submissions a day."""
        return LIMITS[self.closed][0]

    @property
    def in_all(self) -> int:
        """Submissions in all."""
        return LIMITS[self.closed][1]


def phase_facts(parts: Sequence[Part], start: datetime) -> tuple[PhaseFacts, ...]:
    """Give the phases, one after the other from `start` on; the open ones come first."""
    found = []
    for part in sorted((part for part in parts if part.phase), key=lambda part: part.closed):
        end = start + LASTS[part.closed]
        found.append(PhaseFacts.of(part, str(start), str(end)))
        start = end + GAP
    return tuple(found)
