"""What results say about one clip after another, whatever form they come in."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ingest.legacy.pickles.refusal import PickleRefused


class Unreadable(Exception):
    """A file is not what it should be; says which and why."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__(f"{where}: {found}")
        self.where, self.found, self.expected = where, found, expected


class Answers:
    """Predictions and explanations by the names of clips."""

    def __init__(
        self,
        predictions: Mapping[str, Mapping[str, Any]],
        explanations: Mapping[str, Any] | None,
        explain: Callable[[Any], dict[str, Any]],
    ) -> None:
        self._predictions = predictions
        self._explanations = explanations
        self._explain = explain
        tables = (*predictions.values(), *(() if explanations is None else (explanations,)))
        self.names = frozenset(str(name) for table in tables for name in table)
        """The names of all clips that something is said of."""
        self._asked: set[str] = set()
        self.numbers_as_text = False
        """Whether a number came as text so far."""

    def prediction(self, names: Iterable[str]) -> dict[str, Any] | None:
        """Return what is predicted for the clip with one of these names; None where nothing is."""
        found: dict[str, Any] = {}
        for target, table in self._predictions.items():
            name = self._find(table, names)
            if name is not None:
                found[target] = self._number(table[name])
        return found or None

    def explanation(self, names: Iterable[str]) -> dict[str, Any] | None:
        """Return the explanation in the form of `explain`; None where the submission explains nothing at all.

        Raises
        ------
        PickleRefused, Unreadable
            When this one cannot be read.
        """
        if self._explanations is None:
            return None
        name = self._find(self._explanations, names)
        try:
            return {} if name is None else self._explain(self._explanations[name])
        except (PickleRefused, Unreadable):
            raise
        except Exception as error:
            # It must not cost the prediction. Only the type: the text of an exception may quote the entry.
            raise Unreadable("explanation", type(error).__name__, "an entry that can be read") from error

    def unknown(self) -> list[str]:
        """Return the names that nobody asked for, sorted."""
        return sorted(self.names - self._asked)

    def _find(self, table: Mapping[str, Any], names: Iterable[str]) -> str | None:
        name = next((name for name in names if name in table), None)
        if name is not None:
            self._asked.add(name)
        return name

    def _number(self, value: object) -> object:
        """Return a number that came as text, as some files of 2017 have them; anything else as it is."""
        if not isinstance(value, str):
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        self.numbers_as_text = True
        return number
