"""Which files of a submission are results: those of 2017, or this challenge's own records."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Form = Literal["2017", "records"]
EXPLANATIONS: dict[Form, str] = {"2017": "description.pkl", "records": "explanations.jsonl"}
PREDICTIONS: dict[str, Form] = {"prediction.pkl": "2017", "predictions.pkl": "2017", "predictions.csv": "records"}
"""Both names were used in 2017: the plural in the first stage, the singular in the second."""


@dataclass(frozen=True)
class ResultFiles:
    """The result files of a submission."""

    form: Form
    predictions: str
    """Name of the file with the numbers."""
    explanations: str | None
    """Name of the file with the explanations; None if there is none."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the files."""
        return frozenset(filter(None, (self.predictions, self.explanations)))


def find_results(names: Iterable[str]) -> list[ResultFiles]:
    """Return every way to read a submission's top-level files as results; only exactly one can be judged."""
    present = set(names)
    return [
        ResultFiles(form, name, EXPLANATIONS[form] if EXPLANATIONS[form] in present else None)
        for name, form in PREDICTIONS.items()
        if name in present
    ]
