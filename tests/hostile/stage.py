"""The stage on which a case plays: the platform's folders, the canaries in them, and a look at them afterwards."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from compileall import compile_dir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any

import yaml

from tests import warm
from tests.hostile import traces
from tests.hostile.cases import HERE, ISOLATION_LEVELS, Case, waits
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import PROGRAM, SETTINGS, Outcome, write_phase

SCORING = PROGRAM.parent / "scoring_program"
CLIPS = 6
ATTACKED = "c002"
KEY = "c0ffee" + "5e" * 29
SECRETS = ("0.918273645", "canary-of-the-environment", KEY)
"""A label, a variable of ingestion and the seal's key: none of them may ever come out."""
LIMITS = {"time_limit_s": 90, "load_s": 60, "call_s": 30, "restarts": 4, "memory_mb": 512, "workers": 2}
"""Two models side by side, as on the platform's two cores. There is no time to load a model again, so nobody is asked
again in a fresh process."""
WAITED_S = 3
"""What a call has where a case goes on until it has taken too long; elsewhere a busy machine must not end it."""
KEPT = ("input_data", "program", "ingested_program", "input", "home", "work")
"""Folders in which nothing may change."""
WALL_S = 600
"""A run that has not ended by then never will."""
MEMORY_MB = 1500
"""More than a model and its frames may have; ingestion itself has to stay far below."""
# The worker's container has a root without any capability: where the tests have one with all, it is taken from them.
BARE_ROOT = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


@dataclass(frozen=True)
class Stage:
    """The folders of one run."""

    app: Path
    """What is /app on the platform."""

    @property
    def output(self) -> Path:
        """Ingestion's output."""
        return self.app / "output"

    def snapshot(self) -> dict[str, str]:
        """Return how everything looks that must stay as it is."""
        paths = [path for name in KEPT for path in (self.app / name, *(self.app / name).rglob("*"))]
        found = {path.relative_to(self.app).as_posix(): traces.of(path) for path in paths}
        # Ingestion itself takes the key away.
        found.pop("program/seal.key", None)
        return found

    def strangers(self) -> list[str]:
        """Name processes that came from this run and are still there."""
        deadline = time.monotonic() + 2
        while (found := list(self._strangers())) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def _strangers(self) -> Iterator[str]:
        marker = os.fsencode(self.app)
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes()
                traces = (words, (process / "environ").read_bytes(), os.fsencode((process / "cwd").readlink()))
            except OSError:
                continue
            if int(process.name) != os.getpid() and any(marker in trace for trace in traces):
                yield f"{process.name} {words!r}"

    def leaks(self, printed: str) -> list[str]:
        """Name the canaries that came out."""
        texts = [printed.encode(), *(path.read_bytes() for path in self.output.rglob("*") if path.is_file())]
        return [secret for secret in SECRETS if any(secret.encode() in text for text in texts)]


def write_clips(folder: Path, count: int = CLIPS) -> Path:
    """Write a phase of short clips, each of another length."""
    form = Format(width=64, height=48)
    clips = [write_clip(folder / f"{number}.mp4", 10 + 3 * number, form) for number in range(count)]
    phase = write_phase(folder / "phase", clips)
    (phase / "transcripts.json").write_text(json.dumps({ATTACKED: "now"}))
    return phase


@cache
def _compiled(program: Path) -> Path:
    compile_dir(program, quiet=2)
    return program


def lay_out(program: Path, target: Path) -> None:
    """Copy a program with its bytecode: else each of the many runs would compile the same files again."""
    # Another worker may be compiling them, too: its half-written files vanish again.
    shutil.copytree(_compiled(program), target, ignore=shutil.ignore_patterns("*.pyc.*"))


def set_stage(app: Path, phase: Path, case: Case, level: str = ISOLATION_LEVELS[-1]) -> Stage:
    """Lay the folders out for a case that plays alone."""
    limits = {**LIMITS, **({"call_s": WAITED_S} if waits(case) else {}), **case.settings}
    return lay_stage(app, phase, lambda folder: write_submission(case, folder), limits, level)


def lay_stage(
    app: Path, phase: Path, submit: Callable[[Path], object], limits: dict[str, Any], level: str = ISOLATION_LEVELS[-1]
) -> Stage:
    """Lay the folders out as the worker does; `submit` writes the submission into a new folder."""
    stage = Stage(app)
    lay_out(PROGRAM, app / "program")
    (app / "program" / "seal.key").write_text(KEY)
    shutil.copytree(phase, app / "input_data")
    settings = {**SETTINGS, "limits": limits, "isolation": {"at_most": level}}
    (app / "input_data" / "task.yaml").write_text(yaml.safe_dump(settings))
    (app / "input" / "ref").mkdir(parents=True)
    (app / "input" / "ref" / "labels.csv").write_text(f"clip_id,source_id,warmth,interview\nc002,s,{SECRETS[0]},0.5\n")
    for name in ("home", "work", "tmp"):
        (app / name).mkdir()
    submit(app / "ingested_program")
    # The platform leaves a copy of the submission in the output folder.
    shutil.copytree(app / "ingested_program", stage.output, symlinks=True)
    return stage


def write_submission(case: Case, folder: Path) -> None:
    """Write what a case submits: its files, or what its make.py makes."""
    if case.source is None:
        shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("expect.yaml", "make.py", "__pycache__"))
    else:
        folder.mkdir(parents=True)
        (folder / "model.py").write_text(case.source, "utf-8")
    if (folder / "model.py").is_file():
        shutil.copy(HERE / "honest.py", folder)
        shutil.copy(HERE / "wire.py", folder)
    if (case.folder / "make.py").is_file():
        make: Any = runpy.run_path(str(case.folder / "make.py"))["make"]
        make(folder)


def command(stage: Stage) -> tuple[list[Path], dict[str, str]]:
    """Return ingestion's arguments and all its variables."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(stage.app / "home"),
        "TMPDIR": str(stage.app / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CANARY": SECRETS[1],
    }
    return [stage.app / name for name in ("input_data", "output", "program", "ingested_program")], variables


@dataclass(frozen=True)
class Played(Outcome):
    """A run that has ended, and what it took."""

    memory_mb: int
    """Largest resident memory of ingestion and what it started, each for itself, MB."""


def start(stage: Stage) -> warm.Running:
    """Start ingestion on the stage, as a root without capabilities where the tests are root."""
    arguments, variables = command(stage)
    script = stage.app / "program" / "ingestion.py"
    return warm.start(script, arguments, cwd=stage.app / "work", environment=variables, bare_root=True)


def play(stage: Stage, *, interpreter: bool = False) -> Played:
    """Run ingestion to its end, in a new interpreter if asked; a run without an end is killed, and fails its test."""
    if interpreter:
        return _play_in_an_interpreter(stage)
    ended = start(stage).wait(WALL_S)
    return Played(ended.code, stage.output, ended.printed, ended.memory_mb)


def _play_in_an_interpreter(stage: Stage) -> Played:
    arguments, variables = command(stage)
    bare = BARE_ROOT if os.geteuid() == 0 and shutil.which("setpriv") else ()
    process = subprocess.Popen(
        [*bare, sys.executable, str(stage.app / "program" / "ingestion.py"), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=stage.app / "work",
        env=variables,
    )
    assert process.stdout is not None
    alarm = Timer(WALL_S, process.kill)
    alarm.start()
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    alarm.cancel()
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    return Played(process.returncode, stage.output, printed, usage.ru_maxrss >> 10)


def score(stage: Stage, folder: Path) -> "Scored":
    """Run the scoring program, with the key, on what ingestion left; `folder` is new."""
    lay_out(SCORING, folder / "program")
    (folder / "program" / "seal.key").write_text(KEY)
    shutil.copytree(stage.output, folder / "input" / "res", symlinks=True)
    write_reference(folder / "input" / "ref", len(list((stage.app / "input_data" / "clips").iterdir())))
    done = warm.run(folder / "program" / "scoring.py", [folder / "input", folder / "output"])
    scores = folder / "output" / "scores.json"
    return Scored(
        exit_code=done.code,
        printed=done.printed,
        scores=json.loads(scores.read_text()) if scores.exists() else None,
        page=(folder / "output" / "detailed_results.html").read_text(),
    )


@dataclass(frozen=True)
class Scored:
    """What one run of scoring left behind."""

    exit_code: int
    """0 only where there are scores."""
    printed: str
    """Standard output and error."""
    scores: dict[str, float] | None
    """Of scores.json; None where there is none."""
    page: str
    """detailed_results.html."""


def write_reference(folder: Path, clips: int) -> None:
    """Write true values for the corpus's clips."""
    folder.mkdir(parents=True)
    targets = [
        {"name": name, "title": name.title(), "minimum": 0.0, "maximum": 1.0, "constant": 0.5}
        for name in ("warmth", "interview")
    ]
    settings = {
        "format_version": 1,
        "task": SETTINGS["task"],
        "data_version": SETTINGS["data_version"],
        "targets": targets,
        "main_target": "interview",
        "group": {"name": "traits", "title": "Traits", "targets": ["warmth"]},
        "bootstrap": {"resamples": 50, "level": 0.95, "seed": 1},
        "explanation": {"text": SETTINGS["explanation"]["text"]},
        "report": {"clips": True, "truth": True, "gallery": 2},
    }
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    values = [(number, 0.3 + 0.02 * (number % 20), 0.2 + 0.03 * (number % 20)) for number in range(clips)]
    rows = [f"c{number:03d},s{number},{warmth},{interview}" for number, warmth, interview in values]
    (folder / "labels.csv").write_text("clip_id,source_id,warmth,interview\n" + "\n".join(rows) + "\n")
