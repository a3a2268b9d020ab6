"""Which files of a submission are results: those of 2017, or this challenge's own records."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Form = Literal["2017", "records"]
EXPLANATIONS: dict[Form, str] = {"2017": "description.pkl", "records": "explanations.jsonl"}
PREDICTIONS: dict[str, Form] = {"prediction.pkl": "2017", "predictions.pkl": "2017", "predictions.csv": "records"}
"""Both names of 2017 were in use: the plural one in the first stage, the other in the second."""


@dataclass(frozen=True)
class ResultFiles:
    """The files that count."""

    form: Form
    """How they are written."""
    predictions: str
    """Name of the file with the numbers."""
    explanations: str | None
    """Name of the file with the explanations; None where there is none."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the files."""
        return frozenset(filter(None, (self.predictions, self.explanations)))


def find_results(names: Iterable[str]) -> list[ResultFiles]:
    """Return every way to read the files at the top of a submission as results; more than one cannot be judged."""
    present = set(names)
    return [
        ResultFiles(form, name, EXPLANATIONS[form] if EXPLANATIONS[form] in present else None)
        for name, form in PREDICTIONS.items()
        if name in present
    ]
