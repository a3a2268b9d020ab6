"""Clips, phases and submissions for the tests of ingestion."""

import csv
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests import ROOT, warm
from tests.ingestion.clips import write_clip

PROGRAM = ROOT / "ingestion_program"
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

ONCE: dict[str, Any] = {**SETTINGS, "limits": {**SETTINGS["limits"], "load_s": 100}}
"""Settings that leave no time to load a model again, so that nobody is asked again in a fresh process."""

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


# One pair of methods a model; the transcript of a clip names the model that is meant.
METHODS = """
    def predict_{name}(self, clip):
        {predict}
        return {{"warmth": 0.25, "interview": 0.75}}

    def explain_{name}(self, clip, prediction):
        {explain}
        return {{"text": "A text that is long enough to count."}}
"""
CHOICE = """\
class Model:
    def __init__(self, assets):
        self.assets = assets

    def predict(self, clip):
        return getattr(self, f"predict_{clip.transcript}")(clip)

    def explain(self, clip, prediction):
        return getattr(self, f"explain_{clip.transcript}")(clip, prediction)
"""


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
        """Return what the run was told of, but for a machine that was busy with other things."""
        codes = [problem["code"] for problem in self.json("run.json")["problems"]]
        return [code for code in codes if code != "machine_busy"]


@dataclass(frozen=True)
class Told:
    """What a run says of one clip."""

    status: str
    """Of clips.jsonl."""
    problems: list[dict[str, Any]]
    """Of clips.jsonl."""
    row: dict[str, str] | None
    """Of predictions.csv, without the clip's name."""
    explanation: dict[str, Any] | None
    """Of explanations.jsonl, without the clip's name; the image as the bytes of its file."""

    @property
    def codes(self) -> list[str]:
        """Of its problems."""
        return [problem["code"] for problem in self.problems]

    @property
    def words(self) -> str:
        """Its problems in words."""
        return "\n".join(str(problem) for problem in self.problems)


def told(outcome: Outcome) -> list[Told]:
    """Read what a run says of its clips."""

    def unnamed(line: dict[str, Any] | None) -> dict[str, Any] | None:
        if line is None:
            return None
        image = line.get("image")
        line = {key: value for key, value in line.items() if key != "clip_id"}
        return {**line, "image": (outcome.folder / image).read_bytes()} if image else line

    rows, texts = outcome.predictions(), {line["clip_id"]: line for line in outcome.lines("explanations.jsonl")}
    clips = outcome.lines("clips.jsonl")
    assert [clip["clip_id"] for clip in clips] == [f"c{number:03d}" for number in range(len(clips))]
    return [
        Told(clip["status"], clip["problems"], unnamed(rows.get(clip["clip_id"])), unnamed(texts.get(clip["clip_id"])))
        for clip in clips
    ]


@cache
def follows(name: str) -> Callable[[Any], None]:
    """Return what raises an error for a record that is not as the schema of the output format says."""
    schema = yaml.safe_load((PROGRAM.parent / "docs" / "output_format.schema.yaml").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema["$defs"][name] | {"$defs": schema["$defs"]})
    return validator.validate


def run_script(folder: Path, source: str) -> tuple[int, str]:
    """Run a script in a process of its own; return its exit code and what it printed."""
    (folder / "script.py").write_text(source)
    ended = warm.run(folder / "script.py")
    return ended.code, ended.printed


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
    settings = settings or SETTINGS
    # How many models there are must not depend on the machine.
    limits = {"workers": 1, **settings["limits"]}
    (folder / "task.yaml").write_text(yaml.safe_dump({**settings, "limits": limits}))
    return folder


def run_program(input_data: Path, submission: Path, output: Path, program: Path = PROGRAM) -> Outcome:
    """Run the ingestion program as the platform does: as a process, on folders."""
    ended = warm.run(program / "ingestion.py", (input_data, output, program, submission))
    return Outcome(ended.code, output, ended.printed)


@pytest.fixture(scope="session")
def numbered_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of numbered frames at 25 a second."""
    return write_clip(tmp_path_factory.mktemp("clip") / "numbered.mp4", 50)


@pytest.fixture(scope="session")
def phase(numbered_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A phase of three clips, in which nobody is asked again; not to be changed."""
    return write_phase(tmp_path_factory.mktemp("phase") / "input", [numbered_clip] * 3, ONCE)


Together = tuple[Outcome, dict[str, Told]]
"""A run of several models, and what it says of the clip of each."""


@pytest.fixture
def ingest_together(numbered_clip: Path, tmp_path: Path) -> Callable[..., Together]:
    """Run several models, each on a clip of its own: name -> statements on top of `predict` and of `explain`.

    A clip of a good model stands before the first and behind each; it must be all right.
    """

    def run(models: dict[str, tuple[str, str]], settings: dict[str, Any] = ONCE) -> Together:
        order = ["good", *(word for name in models for word in (name, "good"))]
        limits = {**settings["limits"], "time_limit_s": 1000, "load_s": 2000, "restarts": len(models)}
        folder = write_phase(tmp_path / "input", [numbered_clip] * len(order), {**settings, "limits": limits})
        words = {f"c{number:03d}": name for number, name in enumerate(order)}
        (folder / "transcripts.json").write_text(json.dumps(words))
        methods = {**models, "good": ("pass", "pass")}
        source = "".join(METHODS.format(name=n, predict=p, explain=e) for n, (p, e) in methods.items())
        (tmp_path / "submission").mkdir()
        (tmp_path / "submission" / "model.py").write_text(CHOICE + source)
        outcome = run_program(folder, tmp_path / "submission", tmp_path / "output")
        assert outcome.exit_code == 0, outcome.printed
        clips = told(outcome)
        behind = {name: good for name, good in zip(("nobody", *models), clips[::2], strict=True) if good.codes}
        assert behind == {}, outcome.printed
        return outcome, dict(zip(models, clips[1::2], strict=True))

    return run


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
