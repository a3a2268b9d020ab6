"""Run a submission at home with the platform's own programs, over all practice clips or the first few."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import yaml

import programs
from submission import CheckResult, Refused

RUNS = Path("runs")
"""Where runs are kept, below the current folder."""
REPORT, SCORES = "output/detailed_results.html", "output/scores.json"
PRINTED, LABELS = "input/res/model_output.txt", "input/ref/labels.csv"
# Files covering all clips that scores do not need.
_ABOUT_ALL = ("groups", "landmarks", "jury", "observations")
# How the programs print problems: ingestion in its log and again at the end, scoring in two lists.
_LOGGED = re.compile(
    r"\[ingestion\] (clip \S+ · |(?P<share>\d+ of \d+ clips · ))?"
    r"(?P<code>[a-z_]+) · (?P<where>.*?) · found (?P<found>.*?); expected .*"
)
_LISTED = re.compile(r"  - (?P<level>ERROR|WARNING) · (\d+ times · )?(?P<code>[a-z_]+) · .*")
_LISTS = ("For you:", "For the organisers:")
_PROGRESS = re.compile(r"(\[ingestion\] .*): \d+ of \d+ .* each; .*")
_OF_FEW_CLIPS = "yardstick_missing"
"""What scoring warns of where only a few clips, and so few people, are run."""
_WATCHED = {"PROGRESS_EVERY_S": "1"}
_ONE_UP = "\x1b[1A\x1b[2K"
"""Deletes the terminal's last row."""

Say = Callable[[str], object]
"""Prints a line for the participant."""


class Once:
    """Passes on what the two programs print, but each problem only once."""

    def __init__(self, say: Say, known: Container[str], clips: int | None = None) -> None:
        """Start with no problem shown.

        `known`: codes of those shown before the run. `clips`: how many are run; None for all of them.
        """
        self._few = clips is not None
        self.levels: Counter[str] = Counter()
        """How many problems scoring listed as ERROR, how many as WARNING."""
        self._say = say
        self._known = known
        self._shown: defaultdict[str, set[str]] = defaultdict(set)
        self._codes: set[str] = set()
        self._list = ""

    def __call__(self, line: str) -> None:
        """Pass on a line unless it repeats a problem."""
        if logged := _LOGGED.fullmatch(line):
            shown = self._shown[logged["where"]]
            if not any(text in logged["found"] for text in shown):
                if logged[1] or logged["code"] not in self._known:
                    self._say(line)
            elif logged["share"] or logged["found"] not in shown:  # how often it occurred, or its consequence
                self._say(f"[ingestion] {logged['share'] or ''}{logged['code']} · {logged['where']}")
            shown.add(logged["found"])
            self._codes.add(logged["code"])
        elif line in _LISTS:
            self._list = line
        elif listed := _LISTED.fullmatch(line):
            if self._few and listed["code"] == _OF_FEW_CLIPS:
                return
            self.levels[listed["level"]] += 1
            if listed["code"] not in self._codes:
                for new in filter(None, (self._list, line)):
                    self._say(new)
                self._list = ""
        else:
            self._say(line)


class ProgressLines:
    """Prints lines; on a terminal each pass has one progress line."""

    def __init__(self) -> None:
        self._pass = ""
        self._rows = 0

    def __call__(self, line: str) -> None:
        """Print a line at once."""
        progress = _PROGRESS.fullmatch(line)
        about = progress[1] if progress else ""
        again = about and about == self._pass and sys.stdout.isatty()
        sys.stdout.write(f"{_ONE_UP * self._rows if again else ''}{line}\n")
        sys.stdout.flush()
        # A line wider than the terminal takes several rows.
        self._pass, self._rows = about, -(-len(line) // shutil.get_terminal_size().columns)


def new_folder(submission: Path, name: str | None) -> Path:
    """Return the folder of a run: `runs/NAME`, by default the submission's name, numbered from the second run on.

    Raises Refused if a run of that name exists.
    """
    if name is not None:
        if (RUNS / name).exists():
            raise Refused(f"{RUNS / name} exists already: choose another --name, or remove that folder")
        return RUNS / name
    return next(folder for folder in _folders(submission) if not folder.exists())


def finished(submission: Path, out: Path) -> list[Path]:
    """Return the runs of a submission before this one that it can be compared with, the last one last."""
    kept = [folder for folder in takewhile(Path.exists, _folders(submission)) if (folder / SCORES).is_file()]
    clips = (out / LABELS).read_bytes()
    return [folder for folder in kept if folder != out and (folder / LABELS).read_bytes() == clips]


def _folders(submission: Path) -> Iterator[Path]:
    own = submission.resolve()
    usual = own.name if own.is_dir() else own.stem
    return (RUNS / (usual if number == 1 else f"{usual}-{number}") for number in count(1))


def run(submission: Path, checked: CheckResult, out: Path, clips: int | None, say: Say) -> bool:
    """Predict, explain and score; return whether there are scores.

    `checked`: result of its check, without an error that keeps it from running. Of a folder, only packed files run.
    `out`: a new folder: `input/` holds what scoring read, `output/` what it wrote.
    `clips`: how many of the first clips to run; None for all.
    """
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = Path(scratch) / "submission"
        _unpack(submission, checked, unpacked)
        inputs, reference = programs.INPUT_DATA, programs.REFERENCE_DATA
        if clips:
            inputs, reference = _few(clips, Path(scratch))
        results = out / "input/res"
        for folder in (results, out / "output"):
            folder.mkdir(parents=True)
        for line in lines_of(programs.INGESTION / "ingestion.py", inputs, results, programs.INGESTION, unpacked):
            say(line)
        shutil.copytree(reference, out / "input/ref")
    _warn_of_isolation(results / "run.json", say)
    for line in lines_of(programs.SCORING / "scoring.py", out / "input", out / "output"):
        say(line)
    return (out / SCORES).is_file()


def lines_of(script: Path, *arguments: Path) -> Iterator[str]:
    """Run one of the two programs and yield its output line by line."""
    call = [sys.executable, str(script), *map(str, arguments)]
    piped = subprocess.PIPE
    environment = {**os.environ, **(_WATCHED if sys.stdout.isatty() else {})}
    with subprocess.Popen(  # noqa: S603 - no shell
        call, stdout=piped, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", env=environment
    ) as process:
        yield from (line.rstrip("\n") for line in process.stdout or ())


def score_lines(out: Path) -> Iterator[str]:
    """Yield the scores of a run with their titles, except those that need people, such as a jury's."""
    from score.columns import columns  # noqa: PLC0415 - it imports much of scoring
    from score.settings import read_settings  # noqa: PLC0415

    scores = json.loads((out / SCORES).read_text("utf-8"))
    shown = [column for column in columns(read_settings(out / "input/ref/task.yaml")) if not column.hidden]
    width = max(len(column.title) for column in shown)
    for column in shown:
        yield f"  {column.title:{width}}  {scores[column.key]:.{column.decimals}f}"


def _few(clips: int, scratch: Path) -> tuple[Path, Path]:
    """Write a copy of the phase with only its first clips; return its input and reference data."""
    folders = scratch / "input_data", scratch / "reference_data"
    kept = first_clips(programs.INPUT_DATA, clips)
    for source, folder in zip((programs.INPUT_DATA, programs.REFERENCE_DATA), folders, strict=True):
        cut(source, folder, kept)
    settings = yaml.safe_load((folders[1] / "task.yaml").read_text("utf-8"))
    few = {key: value for key, value in settings.items() if key not in _ABOUT_ALL}
    (folders[1] / "task.yaml").write_text(yaml.safe_dump(few, sort_keys=False), "utf-8")
    return folders


def _unpack(submission: Path, checked: CheckResult, target: Path) -> None:
    if not submission.is_dir():
        shutil.unpack_archive(submission, target, "zip")
        return
    for name in checked.packed:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(submission / name, target / name)


def _warn_of_isolation(record: Path, say: Say) -> None:
    level = json.loads(record.read_text("utf-8")).get("isolation") if record.is_file() else None
    if level not in (None, "full"):
        say(f"This machine's sandbox ({level}) is not full: it may allow what the platform refuses.")


def first_clips(folder: Path, number: int) -> set[str]:
    """Return the ids of the first clips of a phase's input data."""
    return {row["clip_id"] for row in read_rows(folder / "clips.csv")[:number]}


def cut(folder: Path, target: Path, clips: set[str]) -> None:
    """Write a copy of a phase's input or reference data for only some of its clips.

    `clips`: ids of the clips to keep. Tables without clip ids are left out.
    """
    target.mkdir(parents=True)
    names, entries = set(clips), list[dict[str, Any]]()
    for path in folder.glob("*.csv"):
        rows = [row for row in read_rows(path) if row.get("clip_id") in clips]
        names |= {row["copy_id"] for row in rows if "copy_id" in row}
        entries += rows
        if rows:
            write_rows(target / path.name, rows)
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text("utf-8"))
        if isinstance(content.get("clips"), dict):
            content["clips"] = _only(content["clips"], clips)
            entries += content["clips"].values()
        elif not names.isdisjoint(content):
            content = _only(content, names)
        (target / path.name).write_text(json.dumps(content), "utf-8")
    for name in ("task.yaml", *(entry["file"] for entry in entries if "file" in entry)):
        if (folder / name).is_file():  # otherwise the programs name what is missing
            (target / name).parent.mkdir(exist_ok=True)
            shutil.copy(folder / name, target / name)


def _only(content: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name in names}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a table with a header; an empty list without such a file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write a table of at least one row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
