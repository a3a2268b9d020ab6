"""The content of submitted results, and errors for unreadable files."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from model_process.loading import LoadFailure
from model_process.results.pickles import PickleRefused

FIX = "write the files as docs/results_2017.md shows; test at home with `kit.py run` of the starting kit"


class Unreadable(LoadFailure):
    """A file or an entry in it is invalid; says which and why."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__("results_unreadable", where=where, found=found[:300], expected=expected, fix=FIX)

    def __str__(self) -> str:
        return f"{self.report['where']}: {self.report['found']}"


@contextmanager
def readable(where: str, expected: str) -> Iterator[None]:
    """Report any exception raised while reading a file as a problem of that file."""
    try:
        yield
    except Unreadable:
        raise
    except Exception as error:
        # Otherwise only the type: an exception's text may quote the file.
        found = str(error) if isinstance(error, PickleRefused) else type(error).__name__
        raise Unreadable(where, found, expected) from error


def read_numbers(tables: dict[str, dict[str, Any]]) -> bool:
    """Convert numbers written as text, in place; return whether there were any."""
    any_text = False
    for table in tables.values():
        for name, value in table.items():
            if isinstance(value, str):
                with suppress(ValueError):
                    table[name] = float(value)
                    any_text = True
    return any_text


@dataclass(frozen=True)
class Content:
    """The content of the files, independent of their format."""

    predictions: dict[str, dict[str, Any]]
    """Values by target, then by clip."""
    explanations: Mapping[str, Any] | None
    """An entry per clip; None without a file of explanations."""
    explain: Callable[[Any], dict[str, Any]]
    """Converts an entry to what a model would have returned."""
    oddities: tuple[str, ...] = ()
    """Codes of unusual findings."""
