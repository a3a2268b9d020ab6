"""Ask the organiser's own programs to read the data of tasks; each is started once for all tasks.

A submission would fail on whatever a program refuses. So no rule repeats the programs' own checks.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bundle_tools.challenge.rules.clips.tables import SETTINGS
from bundle_tools.codabench.archive import extract
from bundle_tools.codabench.keys import Place
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.errors import BundleError

TIMEOUT_S = 60
BYTES_A_SECOND = 20_000_000
"""Bytes that a program reads per second from a slow disk, which sets its time limit."""
OWN_PROGRAMS = Path(__file__).resolve().parents[4]
"""Folder of this checkout's programs."""
# Arguments: the program's folder, then the folders of data. One line of JSON is printed for each of them.
FRAME = """\
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
{code}
FIELDS = ("code", "where", "found", "expected", "fix", "severity")
def listed(problems):
    return [{{field: str(getattr(one, field, "")) for field in FIELDS}} for one in problems]
for path in map(Path, sys.argv[2:]):
    answer = {{"told": {{}}, "problem": "", "of_settings": [], "of_data": []}}
    part = "of_settings"
    try:
        answer["told"] = tell(path / "task.yaml")
        part = "of_data"
        answer[part] = listed(look(path))
    except Exception as error:
        answer[part] = listed(getattr(error, "problems", ()))
        answer["problem"] = "" if answer[part] else f"{{type(error).__name__}}: {{error}}"
    print(json.dumps(answer, default=str))
"""


@dataclass(frozen=True)
class Question:
    """A question to one of the two programs about the data of a task."""

    program: str
    """Key of the task that names the program, and name of the program's folder in this checkout."""
    data: str
    """Key of the task that names the data with the settings."""
    marker: str
    """A file that a program must have to be asked; others are skipped."""
    code: str
    """Python code of two functions, which raise the program's errors. `tell` reads settings into a mapping;
    `look` reads a folder of data and returns warnings."""

    @property
    def title(self) -> str:
        """Return the program's display name."""
        return self.program.replace("_", " ")


@dataclass(frozen=True)
class Refusal:
    """One problem that a program names."""

    code: str
    """The program's code for its kind."""
    where: str
    """The name of the file, and the key or line."""
    found: str
    expected: str
    fix: str
    severity: str
    """"error" or "warning"."""


@dataclass(frozen=True)
class Answer:
    """A program's answer about the data of one task."""

    told: dict[str, Any]
    """The result of `tell`; empty if there is none."""
    problem: str = ""
    """Why it cannot answer, in one sentence; empty if it answered or named problems of the data."""
    of_settings: tuple[Refusal, ...] = ()
    """All problems of the settings; if there are any, the other files are not examined."""
    of_data: tuple[Refusal, ...] = ()
    """All problems of the other files."""


def ask_programs(draft: Draft, question: Question) -> dict[Place, Answer | None]:
    """Ask the programs of all tasks.

    Returns place of a task -> its program's answer; None for a foreign program in a zip, which is not run.
    """
    asked: dict[Dataset, dict[Place, Dataset]] = {}
    answers: dict[Place, Answer | None] = {}
    for task in draft.keys.tasks:
        program, data = find(draft, getattr(task, question.program)), find(draft, getattr(task, question.data))
        if program is None or data is None or question.marker not in program.names():
            continue
        answers[task.place] = None
        if not draft.folder:
            # Nothing else in the zip (compiled files, other modules) is run.
            own = Dataset(OWN_PROGRAMS / question.program)
            if _code(program) != _code(own):
                continue
            program = own
        if SETTINGS not in data.names():
            kind = question.data.replace("_", " ")
            answers[task.place] = Answer({}, f"the {kind} have no {SETTINGS}.")
        else:
            asked.setdefault(program, {})[task.place] = data
    for program, of_tasks in asked.items():
        given = tuple((data, _state(data)) for data in of_tasks.values())
        answers |= zip(of_tasks, _ask((program, _state(program)), question, given), strict=True)
    return answers


def _code(program: Dataset) -> dict[str, bytes]:
    return {name: program.read(name) for name in program.names() if name.endswith(".py")}


def _state(data: Dataset) -> tuple[tuple[str, int, int], ...]:
    """Return a value that changes when any of its files changes."""
    paths = [data.path / name for name in data.names()] if data.path.is_dir() else [data.path]
    states = [(path.name, path.stat()) for path in paths]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


Given = tuple[Dataset, tuple[tuple[str, int, int], ...]]
"""A program or data, and its state."""


# Several rules ask the same, and starting a program takes a while.
@lru_cache(maxsize=8)
def _ask(program: Given, question: Question, data: tuple[Given, ...]) -> tuple[Answer, ...]:
    """Start a program once, and ask it about the data of some tasks."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folders = [_unpacked(one, Path(scratch) / f"{number}") for number, (one, _) in enumerate((program, *data))]
            # -B: no caches may be left in the folder that will be packed.
            done = subprocess.run(  # noqa: S603 - the organiser's own program
                [sys.executable, "-B", "-c", FRAME.format(code=question.code), *map(str, folders)],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S + sum(size for _, state in data for *_, size in state) / BYTES_A_SECOND,
                check=False,
            )
            if done.returncode == 0:
                # The program's own output comes first.
                lines = done.stdout.splitlines()[-len(data) :]
                return tuple(_answer(json.loads(line)) for line, _ in zip(lines, data, strict=True))
            problem = (done.stderr.strip().splitlines() or ["no reason given."])[-1]
        except (BundleError, subprocess.TimeoutExpired, ValueError, TypeError, KeyError) as error:
            problem = f"{error}."
        return (Answer({}, problem),) * len(data)


def _unpacked(data: Dataset, folder: Path) -> Path:
    if data.path.is_dir():
        return data.path.resolve()
    extract(data.path, folder)
    return folder


def _answer(line: dict[str, Any]) -> Answer:
    refused = (tuple(Refusal(**one) for one in line[part]) for part in ("of_settings", "of_data"))
    return Answer(line["told"], line["problem"], *refused)
