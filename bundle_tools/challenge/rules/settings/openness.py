"""Rules about switches that reveal what a phase hides: reports, outputs, programs and input data."""

from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.tables import SETTINGS, read_settings
from bundle_tools.challenge.rules.secrets.answers import is_public
from bundle_tools.codabench.keys import PhaseKeys
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding


def check_openness(draft: Draft) -> Iterator[Finding]:
    """Find answers, secrets and hidden data that Codabench would show."""
    hidden = [phase for phase in draft.keys.phases if _is_hidden(phase)]
    for phase in hidden:
        for task in draft.tasks_of(phase):
            reference = find(draft, task.reference_data)
            if reference is not None and is_public(reference):
                name = f"{task.reference_data.rstrip('/')}/{SETTINGS}"
                what = f"{name}: true values in the report of a phase that hides outputs."
                effect = "Anybody can open reports, even when outputs are hidden."
                where = draft.at(*phase.place)
                yield Finding("report-reveals", "error", where, what, effect, "Write truth: false under report.")
    yield from _check_last(draft)
    if hidden and draft.keys.make_programs_available:
        what = "Participants may download the programs, and a phase hides its outputs."
        effect = "They see how the hidden phase is run and scored."
        where = draft.at("make_programs_available")
        yield Finding("open-programs", "warning", where, what, effect, "Switch it off, unless this is intended.")
    if hidden and draft.keys.make_input_data_available:
        what = "Participants may download the input data, and a phase hides its outputs."
        effect = "They can look at the hidden phase's data and label them by hand."
        where = draft.at("make_input_data_available")
        yield Finding("open-input", "warning", where, what, effect, "Switch it off, unless this is intended.")


def _check_last(draft: Draft) -> Iterator[Finding]:
    phases = draft.keys.phases
    if not phases or phases[-1].hide_output:
        return
    for task in draft.tasks_of(phases[-1]):
        reference = find(draft, task.reference_data)
        # Data without a report section have a foreign format, so it is unknown whether they are secret.
        if reference is not None and "report" in (read_settings(reference) or {}) and not is_public(reference):
            what = "The last phase hides its true values and leaves logs and outputs open."
            effect = "Participants can read what both programs print and write."
            where = draft.at(*phases[-1].place)
            yield Finding("phase-open", "note", where, what, effect, "Write hide_output: true.")


def _is_hidden(phase: PhaseKeys) -> bool:
    return phase.hide_output or phase.hide_prediction_output or phase.hide_score_output
