"""The settings of tasks that the bundle's own programs refuse: every problem that they name, at once."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.clips.tables import SETTINGS
from bundle_tools.challenge.rules.programs.asking import Refusal, ask_programs
from bundle_tools.challenge.rules.programs.questions import INGESTION, SCORING
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding


def check_settings(draft: Draft) -> Iterator[Finding]:
    """Ask both programs to read `task.yaml` of each task; programs of another kind are left alone."""
    tasks = dict(draft.entries("tasks"))
    for question in (INGESTION, SCORING):
        for position, answer in ask_programs(draft, question).items():
            where = draft.at("tasks", position, question.program)
            if answer is None:
                what = f"The {question.title} is not the one of this checkout, so it was not asked about {SETTINGS}."
                effect = "Its code would run on this machine."
                fix = "Unpack the zip and check the folder if you trust it."
                yield Finding("program-unasked", "note", where, what, effect, fix)
                continue
            for refusal in answer.refused:
                yield _finding(str(PurePosixPath(str(tasks[position][question.data])) / SETTINGS), refusal)
            if answer.problem and not answer.refused:
                what = f"The {question.title} cannot read its settings: {answer.problem}"
                yield Finding("settings-unread", "error", where, what, FAILS_LATER, "Run it: `bundle run`.")


def _finding(path: str, refusal: Refusal) -> Finding:
    expected = refusal.expected if refusal.expected.endswith("?") else f"{refusal.expected}."
    what = f"Found {refusal.found}; expected {expected}"
    where = f"{path}{refusal.where.removeprefix(SETTINGS)}"
    fix = f"{refusal.fix[:1].upper()}{refusal.fix[1:]}."
    return Finding("settings-refused", "error", where, what, FAILS_LATER, fix)
