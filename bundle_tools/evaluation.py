"""Whole evaluations of submissions, each in a process of its own, through any executor.

An evaluation is what `bundle run` does with one submission. It writes its own result, which appears as a whole or not
at all, with a hash of all that it depends on: called again, only what is missing is run; the first result counts.

Usage: python -m bundle_tools.evaluation   (the first line of standard input is an `EvaluationTask` as JSON)
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.apart import LOST, Lost, last_line, own_task, run_apart
from bundle_tools.codabench.competition import Competition, Phase, opened
from bundle_tools.codabench.worker.engine import Docker
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import read_json

RESULT = "evaluation.json"
"""File of a result: its key, the lines that are printed, what was wrong, and how long it took."""
ANSWERS = frozenset({"predictions.csv", "explanations.jsonl", "repeats.jsonl", "probes.jsonl", "images"})
"""Files, and a folder of them, in which two evaluations of one submission must agree."""


@dataclass(frozen=True)
class EvaluationTask:
    """One submission to evaluate on one phase; every path exists on all machines that may run it."""

    submission: str
    """A folder or a zip."""
    bundle: str
    """A folder or a zip."""
    phase: str
    """Its slug."""
    out: str
    """Folder of the result."""
    image: str | None
    """Docker image; None for processes."""
    network: bool
    """Whether containers get network access."""
    models: int
    """Most model processes side by side."""
    key: str
    """Hash of all that the result depends on."""
    alive: str
    """File that the driver touches as long as it lives."""

    @property
    def name(self) -> str:
        """The submission's name."""
        return Path(self.out).name


def result_of(evaluation: EvaluationTask) -> dict[str, Any] | None:
    """Return the result that an evaluation has left; None if there is none of the same key."""
    try:
        result: dict[str, Any] = read_json(Path(evaluation.out) / RESULT)
        return result if result["key"] == evaluation.key else None
    except (BundleError, TypeError, KeyError):
        return None


def evaluate(evaluation: EvaluationTask) -> dict[str, Any]:
    """Evaluate a submission in a new process, unless its result is already there; return the result.

    Raises
    ------
    BundleError
        When the submission cannot be evaluated.
    Lost
        When the process ended without a result.
    """
    out = Path(evaluation.out)
    if (result := result_of(evaluation)) is not None and not result["problems"]:
        return result
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent, ignore_cleanup_errors=True) as folder:
        console, unfinished = Path(folder) / "console.txt", Path(folder) / "result"
        module = "bundle_tools.evaluation"
        code = run_apart(module, asdict(evaluation), [str(unfinished)], Path(evaluation.alive), console)
        if code != 0:
            reason = last_line(console)
            raise BundleError(reason) if code == 1 else Lost(f"{reason} (exit code {code})")
        console.rename(unfinished / "logs" / "console.txt")
        first = result_of(evaluation)
        if first is None or first["problems"]:
            if out.exists():
                out.rename(Path(folder) / "replaced")
            unfinished.rename(out)
    result = result_of(evaluation)
    if result is None:
        raise Lost(f"{out} has been removed")
    return result


def key_of(competition: Competition, phase: Phase, submission: Path, image: str | None) -> str:
    """Return the hash of all that an evaluation depends on: submission, programs, data, image.

    Of folders with data only the files at the top count, which hold the hashes of all clips.
    """
    parts: list[object] = [phase.slug, image, _hash(submission)]
    for task in phase.tasks:
        parts += [_hash(path) for path in (task.ingestion_program, task.scoring_program, task.reference_data) if path]
        parts += [_hash(task.input_data, deep=False)] if task.input_data else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _hash(path: Path, *, deep: bool = True) -> str:
    """Return the hash of a zip, of all files of a folder, or of those at its top; compiled files do not count."""
    if not path.exists():
        raise BundleError(f"{path}: expected a folder or a zip, found nothing there.")
    if path.is_file():
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    look: Callable[[str], Iterator[Path]] = path.rglob if deep else path.glob
    whole = hashlib.sha256()
    for file in sorted(file for file in look("*") if file.is_file() and "__pycache__" not in file.parts):
        whole.update(f"{file.relative_to(path).as_posix()}\0{_hash(file)}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


def answers_of(result: Path) -> dict[str, str]:
    """Return the hashes of the files in which two evaluations of one submission must agree, by name."""
    return {
        path.relative_to(result).as_posix(): _hash(path)
        for path in result.rglob("*")
        if "ingestion_output" in path.parts and path.is_file() and {path.name, path.parent.name} & ANSWERS
    }


def main(unfinished: Path) -> int:
    """Evaluate what standard input names into a folder; return 0, or 1 or `LOST` with the reason on the last line."""
    evaluation = EvaluationTask(**own_task())
    started, out = time.monotonic(), Path(evaluation.out)
    try:
        with opened(Path(evaluation.bundle), trust=True) as competition:  # the driver has asked
            phase = competition.phase(evaluation.phase)
            docker = Docker(evaluation.image, evaluation.network) if evaluation.image is not None else None
            models = {"MODEL_WORKERS": str(evaluation.models)}
            limit = replace(limit_of(competition, phase, kill=False), environment=models)
            verdicts = run_submission(competition, phase, Path(evaluation.submission), unfinished, docker, limit)
            _check_ingestion(unfinished)
            lines = [line for _, verdict in verdicts for line in verdict.lines(phase.name, competition.columns)]
            wrong = [f"{out.name}: {verdict.status}: {verdict.reason}" for _, verdict in verdicts if not verdict.good]
    except BundleError as error:
        sys.stdout.write(f"bundle: {error}\n")
        return 1
    except (OSError, Lost) as error:
        sys.stdout.write(f"{error}\n")
        return LOST
    except KeyboardInterrupt:
        return LOST
    result = {
        "key": evaluation.key,
        "lines": [line.replace(str(unfinished), str(out)) for line in lines],
        "problems": wrong,
        "took_s": round(time.monotonic() - started, 3),
    }
    (unfinished / RESULT).write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


def _check_ingestion(result: Path) -> None:
    """Raise `Lost` if something outside has killed ingestion, as when a machine's memory is full."""
    for path in result.rglob("ingestion_output/metadata"):
        code = yaml.safe_load(path.read_text("utf-8"))["ingestionExitCode"]
        if code is not None and not 0 <= code < 128:
            raise Lost(f"ingestion was killed (exit code {code})")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
