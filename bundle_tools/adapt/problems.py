"""Everything that is wrong with what an organiser brings, collected and told at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bundle_tools.errors import BundleError

MOST_NAMED = 5
LONGEST_NAME = 160


@dataclass
class Problems:
    """What was found, by kind and in the order of the first of each kind."""

    _places: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, what: str, where: str, fix: str) -> None:
        """Note one problem.

        Parameters
        ----------
        what
            The kind, such as "labels without a clip"; problems of one kind and fix are told together.
        where
            The file, line or clip.
        fix
            What to do about it.
        """
        self._places.setdefault((what, fix), []).append(_printable(where))

    def add_all(self, what: str, places: Sequence[str], fix: str) -> None:
        """Note one problem at each of several places."""
        for where in places:
            self.add(what, where, fix)

    def __bool__(self) -> bool:
        return bool(self._places)

    def lines(self) -> Iterator[str]:
        """Give one line a kind: how many, the first few places, and the fix."""
        for (what, fix), places in self._places.items():
            named = "; ".join(places[:MOST_NAMED]) + ("; ..." if len(places) > MOST_NAMED else "")
            yield f"{what} ({len(places)}): {named}. {fix}"

    def stop(self, subject: str, outcome: str = "Nothing was written.") -> None:
        """Stop with all problems, if there are any.

        Raises
        ------
        BundleError
            With one line a kind.
        """
        if self:
            lines = "".join(f"\n  - {line}" for line in self.lines())
            raise BundleError(f"{subject}: {outcome} What has to be put right:{lines}")


def _printable(text: str) -> str:
    """Give a name as one short line, whatever it holds: names come from archives of others."""
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return shown if len(shown) <= LONGEST_NAME else shown[:LONGEST_NAME] + "..."
