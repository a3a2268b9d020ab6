"""Ask the organiser's own programs how they read `task.yaml`: each is started once for all tasks.

What a program refuses, a submission would meet. So no rule here repeats what the programs check themselves.
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
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft

TIMEOUT_S = 60
OWN_PROGRAMS = Path(__file__).resolve().parents[4]
"""Where the programs of this checkout lie."""
# Arguments: the program's folder, then the settings files. One line of JSON is printed for each of them.
FRAME = """\
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
{code}
FIELDS = ("where", "found", "expected", "fix")
for path in sys.argv[2:]:
    told, problem, refused = {{}}, "", ()
    try:
        told = tell(Path(path))
    except Exception as error:
        problems = getattr(error, "problems", ())
        refused = [{{field: str(getattr(one, field, "")) for field in FIELDS}} for one in problems]
        problem = f"{{Path(path).name}} has mistakes." if refused else f"{{type(error).__name__}}: {{error}}"
    print(json.dumps({{"told": told, "problem": problem, "refused": refused}}, default=str))
"""


@dataclass(frozen=True)
class Question:
    """What one of the two programs is asked about the settings of a task."""

    program: str
    """Key of the task that names the program, and name of the program's folder in this checkout."""
    data: str
    """Key of the task that names the data with the settings."""
    marker: str
    """A file that a program holds if it can be asked; others are left alone."""
    code: str
    """Python that defines `tell`: from the path of a settings file to a mapping; it raises what the program raises."""

    @property
    def title(self) -> str:
        """Name the program as people read it."""
        return self.program.replace("_", " ")


@dataclass(frozen=True)
class Refusal:
    """One problem that a program names."""

    where: str
    """The name of the file, and the key."""
    found: str
    """What stands there."""
    expected: str
    """What should stand there."""
    fix: str
    """What to do."""


@dataclass(frozen=True)
class Answer:
    """What a program says of the settings of one task."""

    told: dict[str, Any]
    """What `tell` gave; empty where there is a problem."""
    problem: str = ""
    """Why it gave nothing, in one sentence; empty where it did."""
    refused: tuple[Refusal, ...] = ()
    """Everything that the program names as wrong with the settings."""


def ask_programs(draft: Draft, question: Question) -> dict[int, Answer | None]:
    """Ask the programs of all tasks.

    Returns
    -------
    dict
        Position of a task -> what its program says; None where it is foreign and came in a zip: then it is not asked.
    """
    asked: dict[Path, dict[int, bytes]] = {}
    answers: dict[int, Answer | None] = {}
    programs: dict[Path, Dataset] = {}
    for position, task in draft.entries("tasks"):
        program, data = find(draft, task.get(question.program)), find(draft, task.get(question.data))
        if program is None or data is None or question.marker not in program.names():
            continue
        answers[position] = None
        if not draft.folder:
            # Whatever else the zip holds (compiled files, modules of another name), none of it is run.
            own = Dataset(OWN_PROGRAMS / question.program)
            if _code(program) != _code(own):
                continue
            program = own
        if SETTINGS not in data.names():
            kind = question.data.replace("_", " ")
            answers[position] = Answer({}, f"the {kind} have no {SETTINGS}.")
        else:
            programs[program.path] = program
            asked.setdefault(program.path, {})[position] = data.read(SETTINGS)
    for path, texts in asked.items():
        told = _ask(path, _state(programs[path]), question, tuple(texts.values()))
        answers |= zip(texts, told, strict=True)
    return answers


def _code(program: Dataset) -> dict[str, bytes]:
    return {name: program.read(name) for name in program.names() if name.endswith(".py")}


def _state(program: Dataset) -> tuple[tuple[str, int, int], ...]:
    """Give what changes when a program does."""
    if not program.path.is_dir():
        state = program.path.stat()
        return ((program.path.name, state.st_mtime_ns, state.st_size),)
    states = [(name, (program.path / name).stat()) for name in program.names() if name.endswith(".py")]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


# Several rules ask the same, and a program takes a while to start.
@lru_cache(maxsize=8)
def _ask(
    path: Path, _state: tuple[tuple[str, int, int], ...], question: Question, settings: tuple[bytes, ...]
) -> tuple[Answer, ...]:
    """Start a program once, and ask it about the settings of some tasks."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, content in enumerate(settings):
            files.append(Path(folder) / f"{number}" / SETTINGS)
            files[-1].parent.mkdir()
            files[-1].write_bytes(content)
        source = path.resolve()
        if not path.is_dir():
            source = Path(folder) / "program"
            program = Dataset(path)
            for name in program.names():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_bytes(program.read(name))
        try:
            # -B: asking must not leave caches in the folder that would be packed.
            done = subprocess.run(  # noqa: S603 - the organiser's own program
                [sys.executable, "-B", "-c", FRAME.format(code=question.code), str(source), *map(str, files)],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            if done.returncode == 0:
                # Whatever the program prints itself comes before.
                lines = done.stdout.splitlines()[-len(files) :]
                return tuple(_answer(json.loads(line)) for line, _ in zip(lines, files, strict=True))
            problem = (done.stderr.strip().splitlines() or ["no reason given."])[-1]
        except (subprocess.TimeoutExpired, ValueError, TypeError, KeyError) as error:
            problem = f"{error}."
        return (Answer({}, problem),) * len(files)


def _answer(line: dict[str, Any]) -> Answer:
    return Answer(line["told"], line["problem"], tuple(Refusal(**one) for one in line["refused"]))
