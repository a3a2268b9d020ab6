"""Settings and data that the bundle's own programs refuse, with all problems that they report."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.clips.tables import SETTINGS
from bundle_tools.challenge.rules.program_settings import DATA, ProgramSettings, Refusal, program_settings
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding

MOST_TOLD = 5
"""Most mistakes of one kind to show: a table in another format has one in each line."""


def check_settings(draft: Draft) -> Iterator[Finding]:
    """Ask both programs to read the data of each task; foreign programs are skipped."""
    tasks = {task.place: task for task in draft.keys.tasks}
    for program, data in DATA.items():
        title = program.replace("_", " ")
        for place, answer in program_settings(draft, program).items():
            where = draft.at(*place, program)
            if answer is None:
                what = f"The {title} is not the one of this checkout, so it was not run on its data."
                effect = "This check would run foreign code on this machine."
                fix = "Unpack the zip and check the folder if you trust it."
                yield Finding("program-unasked", "note", where, what, effect, fix)
                continue
            yield from _refused(str(getattr(tasks[place], data)), answer)
            if answer.problem:
                what = f"The {title} cannot read its settings: {answer.problem}"
                yield Finding("settings-unread", "error", where, what, FAILS_LATER, "Run it: `bundle run`.")


def _refused(folder: str, answer: ProgramSettings) -> Iterator[Finding]:
    of_data, told = Counter(refusal.code for refusal in answer.of_data), Counter[str]()
    for refusal in answer.of_settings:
        where = f"{PurePosixPath(folder) / SETTINGS}{refusal.where.removeprefix(SETTINGS)}"
        yield Finding("settings-refused", "error", where, _what(refusal), FAILS_LATER, _sentence(refusal.fix))
    for refusal in answer.of_data:
        told[refusal.code] += 1
        if told[refusal.code] > MOST_TOLD:
            continue
        what, count = _what(refusal), of_data[refusal.code]
        if told[refusal.code] == MOST_TOLD < count:
            what = f"{what} There are {count} such mistakes."
        where = str(PurePosixPath(folder) / refusal.where)
        if refusal.severity == "warning":
            effect = "The program leaves it out."
            yield Finding("data-doubted", "warning", where, what, effect, _sentence(refusal.fix))
        else:
            yield Finding("data-refused", "error", where, what, "Every run fails.", _sentence(refusal.fix))


def _what(refusal: Refusal) -> str:
    return f"Found {refusal.found}; expected {refusal.expected}{'' if refusal.expected.endswith('?') else '.'}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
