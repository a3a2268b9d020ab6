"""Clips, phases and submissions for the tests of ingestion."""

import csv
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ingestion.clips import write_clip

PROGRAM = Path(__file__).resolve().parents[2] / "ingestion_program"
TARGETS = ("warmth", "interview")

SETTINGS: dict[str, Any] = {
    "format_version": 1,
    "task": "test",
    "data_version": "test-1",
    "seed": 7,
    "clips": "clips.csv",
    "transcripts": "transcripts.json",
    "targets": [{"name": name, "minimum": 0.0, "maximum": 1.0} for name in TARGETS],
    "limits": {"time_limit_s": 120, "load_s": 20, "call_s": 20, "restarts": 2},
    "explanation": {
        "text": {"minimum_chars": 20, "maximum_chars": 200},
        "image": {"width": 355, "height": 200},
        "evidence": {"grid": {"rows": 9, "columns": 16}, "cues": ["smile", "gaze"]},
    },
    "feedback": {"model_output": True},
}

MODEL = """\
class Model:
    def __init__(self, assets):
        self.assets = assets

    def predict(self, clip):
        {predict}
        return {{"warmth": 0.25, "interview": 0.75}}

    def explain(self, clip, prediction):
        {explain}
        return {{"text": "A text that is long enough to count."}}
"""


def model_source(*, predict: str = "pass", explain: str = "pass") -> str:
    """Return a valid model with a statement put at the top of either method."""
    return MODEL.format(predict=predict, explain=explain)


@dataclass(frozen=True)
class Outcome:
    """What one run of ingestion left behind."""

    exit_code: int
    folder: Path
    printed: str

    def json(self, name: str) -> Any:  # noqa: ANN401
        return json.loads((self.folder / name).read_text())

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def predictions(self) -> dict[str, dict[str, str]]:
        with (self.folder / "predictions.csv").open(newline="") as file:
            return {row["clip_id"]: row for row in csv.DictReader(file)}

    def clip_codes(self, position: int) -> list[str]:
        return [problem["code"] for problem in self.lines("clips.jsonl")[position]["problems"]]

    def run_codes(self) -> list[str]:
        return [problem["code"] for problem in self.json("run.json")["problems"]]


def write_phase(folder: Path, clips: list[Path], settings: dict[str, Any] | None = None) -> Path:
    """Write an input folder over existing clips."""
    (folder / "clips").mkdir(parents=True)
    rows = [["clip_id", "file", "sha256"]]
    for number, clip in enumerate(clips):
        target = folder / "clips" / f"c{number:03d}{clip.suffix}"
        target.write_bytes(clip.read_bytes())
        rows.append([target.stem, f"clips/{target.name}", hashlib.sha256(target.read_bytes()).hexdigest()])
    (folder / "clips.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (folder / "transcripts.json").write_text(json.dumps({"c000": "hello there"}))
    (folder / "task.yaml").write_text(yaml.safe_dump(settings or SETTINGS))
    return folder


def run_program(
    input_data: Path, submission: Path, output: Path, timeout_s: float = 120, program: Path = PROGRAM
) -> Outcome:
    """Run the ingestion program as the platform does: as a process, on folders."""
    command = [sys.executable, str(program / "ingestion.py"), *map(str, (input_data, output, program, submission))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    return Outcome(done.returncode, output, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def numbered_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of numbered frames at 25 a second."""
    return write_clip(tmp_path_factory.mktemp("clip") / "numbered.mp4", 50)


@pytest.fixture(scope="session")
def phase(numbered_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A phase of three clips; not to be changed."""
    return write_phase(tmp_path_factory.mktemp("phase") / "input", [numbered_clip] * 3)


@pytest.fixture
def ingest(phase: Path, tmp_path: Path) -> Callable[..., Outcome]:
    """Run a model, given as source, on the three clips."""

    def run(source: str | None = None, *, files: dict[str, str] | None = None, input_data: Path = phase) -> Outcome:
        submission = tmp_path / "submission"
        submission.mkdir(exist_ok=True)
        for name, text in {**(files or {}), **({} if source is None else {"model.py": source})}.items():
            (submission / name).parent.mkdir(parents=True, exist_ok=True)
            (submission / name).write_text(text)
        return run_program(input_data, submission, tmp_path / "output")

    return run
