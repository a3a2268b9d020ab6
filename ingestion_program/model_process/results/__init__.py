"""Submitted results, in the process that reads them: their files, opened behind the walls, and asked as a model is."""

from pathlib import Path
from typing import Any

from model_process.results.answers import Answers, Unreadable, readable
from model_process.results.coopetition import read_coopetition
from model_process.results.records import read_records

__all__ = ["Answers", "Results", "Unreadable", "read_form"]

NAMED = 5
SUFFIX = ".mp4"


def read_form(form: str, predictions: Path, explanations: Path | None) -> Answers:
    """Open the files of one form.

    Raises
    ------
    Unreadable
        When a file is not what the form says.
    """
    where = " or ".join(path.name for path in (predictions, explanations) if path is not None)
    with readable(where, "data in the form of the page on results"):
        return (read_coopetition if form == "2017" else read_records)(predictions, explanations)


class Results:
    """What stands in the place of a participant's model."""

    def __init__(
        self,
        submission: Path,
        form: str,
        predictions: str,
        explanations: str | None,
        clips: dict[str, str | None],
        targets: dict[str, str],
    ) -> None:
        """Open the files; `clips` holds the older name of each clip, `targets` the target of each older name."""
        explained = None if explanations is None else submission / explanations
        self._answers = read_form(form, submission / predictions, explained)
        self._names = {clip_id: names_of(clip_id, older) for clip_id, older in clips.items()}
        renamed = self._answers.rename(targets)
        unknown = self._answers.unknown(self._names.values())
        self.notes: dict[str, Any] = {
            "oddities": self._answers.oddities,
            "renamed": renamed,
            "unknown": len(unknown),
            "named": [name[:80] for name in unknown[:NAMED]],
        }
        """What there is to say of the files as a whole."""

    def predict(self, clip_id: str) -> dict[str, Any] | None:
        """Return what is predicted for a clip; None where nothing is."""
        return self._answers.prediction(self._names[clip_id])

    def explain(self, clip_id: str, _: object) -> dict[str, Any]:
        """Return how it is explained; empty where it is not."""
        return self._answers.explanation(self._names[clip_id])


def names_of(clip_id: str, older: str | None) -> list[str]:
    """Return the names under which a clip may stand: its older name first, with and without `.mp4`."""
    names = [clip_id] if older is None else [older, clip_id]
    return [spelling for name in names for spelling in (name, name.removesuffix(SUFFIX), name + SUFFIX)]
