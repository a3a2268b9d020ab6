"""A rule about how much of its hidden labels a phase reveals through scores."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf
from typing import Any

from bundle_tools.challenge.label_budget import GAIN_ALLOWED, bits_of, gain, labels_needed, submissions_allowed
from bundle_tools.challenge.rules.clips.tables import read_labels
from bundle_tools.challenge.rules.program_settings import scoring_settings
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding


def check_hidden_labels(draft: Draft) -> Iterator[Finding]:
    """State how much one participant's submissions reveal of hidden labels, and warn if exploiting it pays."""
    told = scoring_settings(draft)
    for task in draft.keys.tasks:
        known, data = told.get(task.place), find(draft, task.reference_data)
        # An unbounded score has infinitely many values; a program without these fields is not this project's.
        of_labels = [column for column in known.columns if column.get("of_labels")] if known else []
        columns = [column for column in of_labels if column["maximum"] is not None]
        if known is None or data is None or not columns or known.settings["report"]["truth"]:
            continue
        clips, targets = len(read_labels(data).rows), len(known.settings["targets"])
        for phase in draft.keys.phases if clips else ():
            allowed = phase.max_submissions
            readable = phase.given.get("max_submissions", allowed) == allowed
            if readable and task in draft.tasks_of(phase):
                yield _budget(draft.at(*phase.place, "max_submissions"), columns, clips, targets, allowed)


def _budget(where: str, columns: Sequence[Mapping[str, Any]], clips: int, targets: int, allowed: int | None) -> Finding:
    scores, labels, submissions = len(columns), clips * targets, allowed or inf  # 0 and null mean no limit
    bits = bits_of(columns)
    of_all = f"{allowed} submissions {allowed * bits:.0f}" if allowed else "unlimited submissions any number"
    what = (
        f"{scores} scores and an interval reveal at most {bits:.0f} bits of labels, {of_all}; "
        f"there are {labels} labels of {clips} clips."
    )
    most = gain(scores, labels, submissions)
    effect = f"Submitting variants can gain about {most:.3f} of skill; expected at most {GAIN_ALLOWED}."
    if most <= GAIN_ALLOWED:
        return Finding("labels-told", "note", where, what, effect, "Nothing.")
    more = f", or take {ceil(labels_needed(scores, submissions) / targets)} clips" if allowed else ""
    fix = f"Allow {submissions_allowed(scores, labels)} in max_submissions{more}."
    return Finding("labels-told", "warning", where, what, effect, fix)
