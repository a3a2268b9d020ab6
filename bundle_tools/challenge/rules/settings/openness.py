"""Rules about switches that open what a phase hides: reports, outputs, programs and input data."""

from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.tables import SETTINGS, read_settings
from bundle_tools.challenge.rules.secrets.answers import is_public
from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

HIDES = ("hide_output", "hide_prediction_output", "hide_score_output")


def check_openness(draft: Draft) -> Iterator[Finding]:
    """Find answers, secrets and hidden data that Codabench would show."""
    tasks = [task for _, task in draft.entries("tasks")]
    hidden = [(position, phase) for position, phase in draft.entries("phases") if _is_hidden(phase)]
    for position, phase in hidden:
        for task in (task for task in tasks if draft.runs(phase, task)):
            reference = find(draft, task.get("reference_data"))
            if reference is not None and is_public(reference):
                name = f"{task['reference_data'].rstrip('/')}/{SETTINGS}"
                what = f"{name}: true values in the report of a phase that hides outputs."
                effect = "Anybody may open reports, hidden outputs or not."
                where = draft.at("phases", position)
                yield Finding("report-reveals", "error", where, what, effect, "Write truth: false under report.")
    yield from _check_last(draft, tasks)
    if hidden and is_on(draft.content.get("make_programs_available")):
        what = "Participants may download the programs, and a phase hides its outputs."
        effect = "They see how the hidden phase is run and scored."
        where = draft.at("make_programs_available")
        yield Finding("open-programs", "warning", where, what, effect, "Switch it off, or mean it.")
    if hidden and is_on(draft.content.get("make_input_data_available")):
        what = "Participants may download the input data, and a phase hides its outputs."
        effect = "They can look at the data of the hidden phase and label them by hand."
        where = draft.at("make_input_data_available")
        yield Finding("open-input", "warning", where, what, effect, "Switch it off, or mean it.")


def _check_last(draft: Draft, tasks: list[dict[str, Any]]) -> Iterator[Finding]:
    phases = draft.entries("phases")
    if not phases:
        return
    position, phase = phases[-1]
    if is_on(phase.get("hide_output")):
        return
    for task in (task for task in tasks if draft.runs(phase, task)):
        reference = find(draft, task.get("reference_data"))
        # Data that say nothing of a report are somebody else's: whether they are secret is not known.
        if reference is not None and "report" in (read_settings(reference) or {}) and not is_public(reference):
            what = "The last phase hides its true values and leaves logs and outputs open."
            effect = "Participants read what both programs print and write."
            where = draft.at("phases", position)
            yield Finding("phase-open", "note", where, what, effect, "Write hide_output: true.")


def _is_hidden(phase: dict[str, Any]) -> bool:
    return any(is_on(phase.get(key)) for key in HIDES)
