"""A tiny bundle with programs of a few lines: the platform's rules can be tried without our own programs."""

import hashlib
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar, cast

import pytest

from bundle_tools.canonical import differences
from bundle_tools.challenge.reading import program_settings, video
from bundle_tools.challenge.reading.program_settings import ProgramSettings
from bundle_tools.challenge.reading.video import describe
from bundle_tools.challenge.rules import clips
from bundle_tools.codabench.rules import clock
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.decoding import count_frames
from tests import warm

COMPETITION = """\
version: 2
title: Tiny
image: logo.png
terms: pages/terms.md
docker_image: example/tiny:1
enable_detailed_results: true
pages:
  - {title: Overview, file: pages/overview.md}
tasks:
  - index: 0
    name: Practice
    input_data: input_data/practice/
    reference_data: reference_data/practice/
    ingestion_program: ingestion_program/
    scoring_program: scoring_program/
solutions:
  - {index: 0, name: half, path: solutions/half/, tasks: [0]}
phases:
  - index: 0
    name: Practice
    start: "2030-01-01 12:00:00"
    tasks: [0]
    execution_time_limit: 600
leaderboards:
  - title: Results
    key: results
    submission_rule: Add
    columns:
      - {index: 0, key: accuracy, title: Accuracy, sorting: desc, precision: 4}
      - {index: 1, key: errors, title: Errors, sorting: asc, precision: 0}
"""

INGESTION = """\
import runpy, sys
from pathlib import Path
data, output, program, submission = (Path(argument) for argument in sys.argv[1:])
print("ingestion sees", sorted(path.name for path in output.iterdir()))
predict = runpy.run_path(str(submission / "model.py"))["predict"]
(output / "predictions.txt").write_text(str(predict((data / "question.txt").read_text())))
"""

SCORING = """\
import json, sys
from pathlib import Path
source, output = Path(sys.argv[1]), Path(sys.argv[2])
truth = float((source / "ref" / "answer.txt").read_text())
found = float((source / "res" / "predictions.txt").read_text())
seen = sorted(path.relative_to(source.parent).as_posix() for path in source.parent.rglob("*"))
(output / "seen.txt").write_text(repr(seen))
(output / "detailed_results.html").write_text("<!doctype html><p>tiny</p>")
(output / "scores.json").write_text(json.dumps({"accuracy": 1 - abs(truth - found), "errors": 0}))
"""

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)

FILES: dict[str, str | bytes] = {
    "competition.yaml": COMPETITION,
    "logo.png": PNG,
    "pages/overview.md": "# Tiny\n",
    "pages/terms.md": "Be kind.\n",
    "ingestion_program/metadata.yaml": (
        "command: python3 /app/program/ingest.py /app/input_data/ /app/output/ /app/program /app/ingested_program\n"
    ),
    "ingestion_program/ingest.py": INGESTION,
    "scoring_program/metadata.yaml": "command: python3 /app/program/score.py /app/input/ /app/output/\n",
    "scoring_program/score.py": SCORING,
    "input_data/practice/question.txt": "What is a half?\n",
    "reference_data/practice/answer.txt": "0.5\n",
    "solutions/half/model.py": "def predict(question):\n    return 0.5\n",
}


THIRDS = (0, *(pytest.param(third, marks=pytest.mark.slow) for third in (1, 2)))
"""Parts of a long search, one of them for every day."""


def write_files(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def swap(path: Path, old: str, new: str) -> None:
    """Write other words into a file, which must hold the old ones."""
    text = path.read_text("utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new), "utf-8")


def telling(*columns: tuple[str, str, str, int]) -> Callable[..., tuple[ProgramSettings, ...]]:
    """Stand in for asking a program: key, title, direction and decimals of the columns of scoring."""
    fields = ("key", "title", "direction", "decimals")
    answer = ProgramSettings(
        {"columns": [dict(zip(fields, column, strict=True)) for column in columns], "settings": {}}
    )

    def ask(_program: object, _kind: str, data: Sequence[object]) -> tuple[ProgramSettings, ...]:
        return (answer,) * len(data)

    return ask


@pytest.fixture(autouse=True)
def pinned_clock(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Hold the checker's clock: `competition.yaml` has dates, and no test may fail by growing old."""
    now = datetime(2026, 11, 1, 12)
    monkeypatch.setattr(clock, "utc_now", lambda: now)
    return now


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_files(tmp_path / "tiny", FILES)


_DRAFTS: dict[bytes, ParsedBundle] = {}


def draft_of(bundle: Path) -> ParsedBundle:
    """Read competition.yaml; one that many bundles share is parsed once, which takes longer than most rules."""
    text = (bundle / "competition.yaml").read_bytes()
    if text not in _DRAFTS:
        found, _ = read(bundle, folder=True)
        assert found is not None
        _DRAFTS[text] = found
    return replace(_DRAFTS[text], root=bundle)


Answer = TypeVar("Answer")
_ANSWERS: dict[tuple[Callable[[bytes], object], bytes], object] = {}


def _remembered(ask: Callable[[bytes], Answer]) -> Callable[[bytes], Answer]:
    def answer(content: bytes) -> Answer:
        key = (ask, hashlib.sha256(content).digest())
        if key not in _ANSWERS:
            _ANSWERS[key] = ask(content)
        return cast(Answer, _ANSWERS[key])

    return answer


@pytest.fixture
def decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember what a clip says of itself, its form, and what came of decoding it, which depend on its bytes alone."""
    monkeypatch.setattr(clips, "count_frames", _remembered(count_frames))
    monkeypatch.setattr(clips, "differences", _remembered(differences))
    monkeypatch.setattr(video, "describe", _remembered(describe))


@pytest.fixture
def asked_in_a_fork(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Start foreign programs in forked processes; one test of `test_settings.py` starts an interpreter."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        readers = tmp_path_factory.mktemp("readers") / "readers.py"
        # In the place of the option -B.
        readers.write_text(f"import sys; sys.dont_write_bytecode = True\n{Path(command[3]).read_text()}")
        ended = warm.run(readers, command[4:])
        return subprocess.CompletedProcess(command, ended.code, ended.printed, ended.printed)

    monkeypatch.setattr(
        program_settings, "subprocess", SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    )


def end_when(happened: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of the next program be up once something has happened: on a busy machine it takes its time."""
    waited: list[bool] = []

    class Patient(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            if timeout is None or waited:
                return super().wait(timeout)
            waited.append(True)
            while not happened() and self.poll() is None:
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", Patient)
