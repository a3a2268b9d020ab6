"""Problems of an organiser's files, collected and reported together."""

from collections.abc import Iterator

from bundle_tools.errors import BundleError

MOST_NAMED = 5
LONGEST_TOLD = 240


class Problems:
    """Problems found, grouped by kind, in the order in which each kind first occurred.

    Thousands of clips may have the same problem, so problems of one kind are reported together. In contrast, a rule of
    `bundle check` has a code, an effect and one place.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, *places: str, fix: str) -> None:
        """Note one kind of problem.

        `what`: the kind, such as "labels without a clip"; problems of one kind and fix are reported together. `places`:
        files, lines or clips; without any, nothing is noted.
        """
        if places:
            self._places.setdefault((what, fix), []).extend(map(_printable, places))

    def __bool__(self) -> bool:
        return bool(self._places)

    def lines(self) -> Iterator[str]:
        """Yield one line per kind: the number, the first few places, and the fix."""
        for (what, fix), places in self._places.items():
            named = "; ".join(places[:MOST_NAMED]) + ("; ..." if len(places) > MOST_NAMED else "")
            yield f"{what} ({len(places)}): {named}. {fix}"

    def stop(self, subject: str, outcome: str = "Nothing was written.") -> None:
        """Raise an error with all problems, if there are any.

        Raises BundleError with one line per kind.
        """
        if self:
            lines = "".join(f"\n  - {line}" for line in self.lines())
            raise BundleError(f"{subject}: {outcome} Please correct:{lines}")


def _printable(text: str) -> str:
    """Return a name as one short line: names come from untrusted archives."""
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return shown if len(shown) <= LONGEST_TOLD else shown[:LONGEST_TOLD] + "..."
