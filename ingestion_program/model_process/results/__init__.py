"""Submitted results, which take a model's place: their files are opened in the sandbox and queried like a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model_process.results.content import Unreadable, readable
from model_process.results.coopetition import read_coopetition
from model_process.results.records import read_records

__all__ = ["SubmittedResults", "Unreadable"]

NAMED = 5
SUFFIX = ".mp4"


class SubmittedResults:
    """Answers from submitted files in place of a participant's model."""

    def __init__(
        self,
        submission: Path,
        *,
        form: str,
        predictions: str,
        explanations: str | None,
        clips: dict[str, str | None],
        targets: dict[str, str],
    ) -> None:
        """Open the files; `clips` holds the older name of each clip, `targets` the target of each older name.

        Raises Unreadable when a file does not have the format given by `form`.
        """
        explained = None if explanations is None else submission / explanations
        where = " or ".join(filter(None, (predictions, explanations)))
        with readable(where, "data in the format of docs/results_2017.md"):
            read = read_coopetition if form == "2017" else read_records
            self._content = read(submission / predictions, explained)
        self._clips = clips
        self._tables = dict(self._content.predictions)
        renamed = [name for name, target in targets.items() if name in self._tables and target not in self._tables]
        for name in renamed:
            self._tables[targets[name]] = self._tables.pop(name)
        self._entries = self._content.explanations or {}
        every = [*self._tables.values(), self._entries]
        self.names = {str(name) for table in every for name in table}
        """Names of all clips with an entry in any table."""
        unknown = sorted(self.names - {self._find(table, clip_id) for table in every for clip_id in clips})
        self.notes = dict.fromkeys(self._content.oddities, "")
        """Findings about the files as a whole: details by code, empty if the code says it all."""
        if renamed:
            self.notes["target_renamed"] = f"the name {', '.join(renamed)}"
        if unknown:
            named = ", ".join(name[:80] for name in unknown[:NAMED])
            self.notes["results_unknown"] = f"{len(unknown)} names that are not clips of this phase, such as {named}"
        if explanations is None:
            self.notes["results_unexplained"] = ""

    def predict(self, clip_id: str) -> dict[str, Any] | None:
        """Return the prediction for a clip; None if there is none."""
        names = {target: self._find(table, clip_id) for target, table in self._tables.items()}
        return {target: self._tables[target][name] for target, name in names.items() if name is not None} or None

    def explain(self, clip_id: str, _: object = None) -> dict[str, Any]:
        """Return the explanation for a clip; empty if there is none.

        Raises Unreadable when its entry cannot be read.
        """
        name = self._find(self._entries, clip_id)
        with readable("explanation", "a readable entry"):
            return {} if name is None else self._content.explain(self._entries[name])

    def _find(self, table: Mapping[str, Any], clip_id: str) -> str | None:
        return next((name for name in names_of(clip_id, self._clips.get(clip_id)) if name in table), None)


def names_of(clip_id: str, older: str | None) -> list[str]:
    """Return the names under which a clip may be listed: its older name first, with and without `.mp4`."""
    names = [clip_id] if older is None else [older, clip_id]
    return [spelling for name in names for spelling in (name, name.removesuffix(SUFFIX), name + SUFFIX)]
