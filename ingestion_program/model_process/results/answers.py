"""What results say about one clip after another, whatever form they come in."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from model_process.loading import LoadFailure
from model_process.results.stand_ins import PickleRefused

FIX = "write the files as the page on results shows; try them at home with `run.py` of the starting kit"


class Unreadable(LoadFailure):
    """A file, or an entry of one, is not what it should be; says which and why."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__("results_unreadable", where=where, found=found[:300], expected=expected, fix=FIX)

    def __str__(self) -> str:
        return f"{self.report['where']}: {self.report['found']}"


@contextmanager
def readable(where: str, expected: str) -> Iterator[None]:
    """Whatever a file makes our own code stumble over, too, is said of the file."""
    try:
        yield
    except Unreadable:
        raise
    except Exception as error:
        # Otherwise only the type: the text of an exception may quote the file.
        found = str(error) if isinstance(error, PickleRefused) else type(error).__name__
        raise Unreadable(where, found, expected) from error


class Answers:
    """Predictions and explanations by the names of clips."""

    def __init__(
        self,
        predictions: dict[str, Mapping[str, Any]],
        explanations: Mapping[str, Any] | None,
        explain: Callable[[Any], dict[str, Any]],
        oddities: Iterable[str] = (),
    ) -> None:
        self._predictions = predictions
        self._explanations = explanations or {}
        self._explain = explain
        self.oddities = list(oddities)
        """Codes of what is unusual about the files as a whole."""

    @property
    def names(self) -> set[str]:
        """The names of all clips that something is said of."""
        return {str(name) for table in self._tables for name in table}

    @property
    def _tables(self) -> list[Mapping[str, Any]]:
        return [*self._predictions.values(), self._explanations]

    def rename(self, targets: Mapping[str, str]) -> list[str]:
        """Give targets the names that they have today; return the older names that were there."""
        older = [
            name
            for name, target in targets.items()
            if name in self._predictions and target not in self._predictions
        ]  # fmt: skip
        for name in older:
            self._predictions[targets[name]] = self._predictions.pop(name)
        return older

    def unknown(self, clips: Collection[Iterable[str]]) -> list[str]:
        """Return the names that are not those of `clips`, sorted."""
        return sorted(self.names - {_find(table, names) for table in self._tables for names in clips})

    def prediction(self, names: Iterable[str]) -> dict[str, Any] | None:
        """Return what is predicted for the clip with one of these names; None where nothing is."""
        found = {target: _find(table, names) for target, table in self._predictions.items()}
        return {target: self._predictions[target][name] for target, name in found.items() if name is not None} or None

    def explanation(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the explanation as a model would have returned it; empty where there is none.

        Raises
        ------
        Unreadable
            When this one cannot be read.
        """
        name = _find(self._explanations, names)
        with readable("explanation", "an entry that can be read"):
            return {} if name is None else self._explain(self._explanations[name])


def _find(table: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if name in table), None)
