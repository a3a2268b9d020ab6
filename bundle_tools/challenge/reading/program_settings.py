"""The settings and data of tasks as the organiser's own programs read them; each is asked once for all tasks.

A submission would fail on whatever a program refuses. So no rule repeats the programs' own checks. This checkout's
programs are imported; others are started, see `program_readers`.
"""

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bundle_tools.challenge.reading import program_readers
from bundle_tools.challenge.reading.tables import SETTINGS
from bundle_tools.codabench.archive import CHECKOUT, copy_zipped, extract
from bundle_tools.codabench.keys import KeyPath
from bundle_tools.codabench.rules.dataset import DataFiles, find
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.trust import Code, forget_compiled, is_own, is_trusted
from bundle_tools.errors import BundleError
from bundle_tools.programs import PACKAGES, use_own_program

TIMEOUT_S = 60
BYTES_A_SECOND = 20_000_000
"""Bytes that a program reads per second from a slow disk, which sets its time limit."""
DATA = {"ingestion_program": "input_data", "scoring_program": "reference_data"}
"""Key of a task that names a program, and name of its folder in this checkout -> key of the data with its settings."""
MARKERS = {"ingestion_program": "ingest/settings.py", "scoring_program": "score/columns.py"}
"""A file that a program must have to be asked; others are skipped."""
SEAL = "seal.key"


@dataclass(frozen=True)
class ProgramProblem:
    """One problem that a program names."""

    code: str
    where: str
    """The name of the file, and the key or line."""
    found: str
    expected: str
    fix: str
    severity: str


@dataclass(frozen=True)
class ProgramSettings:
    """The data of one task as a program reads them."""

    settings: dict[str, Any]
    """What is needed of the settings; empty if the program refuses them."""
    problem: str = ""
    """Why it cannot answer, in one sentence; empty if it answered or named problems of the data."""
    of_settings: tuple[ProgramProblem, ...] = ()
    """All problems of the settings; if there are any, the other files are not examined."""
    of_data: tuple[ProgramProblem, ...] = ()


@dataclass(frozen=True)
class ScoringSettings:
    """A scoring program's columns, with the settings of one task."""

    columns: Sequence[dict[str, Any]]
    """Fields of its score columns, in the order of the registry."""
    settings: dict[str, Any]
    """The settings of the reference data as the program reads them, with defaults."""
    constants: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    """Why there is no answer; empty if there is one."""


def scoring_settings(bundle: ParsedBundle) -> dict[KeyPath, ScoringSettings | None]:
    """Ask the scoring programs that have a registry of columns.

    Returns place of a task -> its program's answer; None for one that the user does not trust, which is not run.
    """
    return {
        task: None
        if answer is None
        else ScoringSettings(**answer.settings)
        if answer.settings
        else ScoringSettings((), {}, problem=answer.problem or "task.yaml has mistakes.")
        for task, answer in program_settings(bundle, "scoring_program").items()
    }


def program_settings(bundle: ParsedBundle, kind: str) -> dict[KeyPath, ProgramSettings | None]:
    """Ask the programs of all tasks.

    `kind`: key of a task that names the program. Returns place of a task -> its program's answer; None for a program
    that the user does not trust, which is not run.
    """
    tasks: dict[DataFiles, dict[KeyPath, DataFiles]] = {}
    answers: dict[KeyPath, ProgramSettings | None] = {}
    for task in bundle.keys.tasks:
        program, data = find(bundle, getattr(task, kind)), find(bundle, getattr(task, DATA[kind]))
        if program is None or data is None or MARKERS[kind] not in program.names():
            continue
        answers[task.key_path] = None
        if is_own(kind, program.path):
            program = DataFiles(CHECKOUT / kind)
        elif not bundle.trusted and not is_trusted(asked_code(bundle)):
            continue
        if SETTINGS not in data.names():
            answers[task.key_path] = ProgramSettings({}, f"the {DATA[kind].replace('_', ' ')} have no {SETTINGS}.")
        else:
            tasks.setdefault(program, {})[task.key_path] = data
    for program, of_tasks in tasks.items():
        data_of_tasks = tuple((data, _state(data)) for data in of_tasks.values())
        answers |= zip(of_tasks, _ask((program, _state(program)), kind, data_of_tasks), strict=True)
    return answers


def asked_code(bundle: ParsedBundle) -> list[Code]:
    """Return all programs of the tasks that can be asked, for the user to decide once."""
    used = [(kind, find(bundle, getattr(task, kind))) for task in bundle.keys.tasks for kind in MARKERS]
    return [(kind, data.path) for kind, data in used if data is not None and MARKERS[kind] in data.names()]


def _state(data: DataFiles) -> tuple[tuple[str, int, int], ...]:
    """Return a value that changes when any of its files changes."""
    paths = [data.path / name for name in data.names()] if data.path.is_dir() else [data.path]
    states = [(path.name, path.stat()) for path in paths]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


DataState = tuple[DataFiles, tuple[tuple[str, int, int], ...]]
"""A program or data, and its state."""


# Several rules ask the same, and reading takes a while.
@lru_cache(maxsize=8)
def _ask(program: DataState, kind: str, data: tuple[DataState, ...]) -> tuple[ProgramSettings, ...]:
    """Ask a program about the data of some tasks: import it if it is ours, else start it once."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folders = [_unpacked(files, Path(scratch) / f"{number}") for number, (files, _) in enumerate(data)]
            if program[0].path == CHECKOUT / kind and _is_imported(kind):
                lines = _read_here(kind, folders)
            else:
                timeout_s = TIMEOUT_S + sum(size for _, state in data for *_, size in state) / BYTES_A_SECOND
                copy = Path(scratch) / "program"
                copy_zipped(program[0].path, copy, Path(scratch) / "program.zip")
                forget_compiled(copy)
                # -P: no module may come from the script's folder. -B: no caches may be left in the folder to be packed.
                command = [sys.executable, "-P", "-B", program_readers.__file__, kind, str(copy), *map(str, folders)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)  # noqa: S603
                if done.returncode != 0:
                    problem = (done.stderr.strip().splitlines() or ["no reason given."])[-1]
                    return (ProgramSettings({}, problem),) * len(data)
                # The program's own output comes first.
                lines = done.stdout.splitlines()[-len(data) :]
            return tuple(_answer(json.loads(line)) for line, _ in zip(lines, data, strict=True))
        except (BundleError, subprocess.TimeoutExpired, ValueError, TypeError, KeyError) as error:
            return (ProgramSettings({}, f"{error}."),) * len(data)


def _is_imported(kind: str) -> bool:
    """Import this checkout's program, and return whether no other one was imported before."""
    use_own_program(kind)
    spec = find_spec(PACKAGES[kind])
    return spec is not None and Path(str(spec.origin)).is_relative_to(CHECKOUT / kind)


def _read_here(kind: str, folders: list[Path]) -> list[str]:
    """Read folders by this checkout's program in this process; no caches may be left in the folder to be packed."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with redirect_stdout(io.StringIO()):
            return [program_readers.read_folder(kind, folder) for folder in folders]
    finally:
        sys.dont_write_bytecode = before


def _unpacked(data: DataFiles, folder: Path) -> Path:
    if data.path.is_dir():
        return data.path.resolve()
    extract(data.path, folder)
    return folder


def _answer(line: dict[str, Any]) -> ProgramSettings:
    of_settings, of_data = (
        tuple(ProgramProblem(**fields) for fields in line[part]) for part in ("of_settings", "of_data")
    )
    return ProgramSettings(line["settings"], line["problem"], of_settings, of_data)
