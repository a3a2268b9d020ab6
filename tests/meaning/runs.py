"""Runs submissions with the real programs; what was run before is not run again."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests import ROOT
from tests.meaning.cache import digest, once
from tests.meaning.entrants import Entrant, write_submission
from tests.meaning.sets import ClipSet

CACHE = ROOT / "build" / "meaning"
INGESTION, SCORING = ROOT / "ingestion_program", ROOT / "scoring_program"
Scores = dict[str, float]


def run_all(
    entrants: Iterable[Entrant], sets: Sequence[ClipSet], cache: Path, jobs: int, say: Callable[[str], object]
) -> dict[str, list[Scores]]:
    """Run every entrant on every set; returns by key of the entrant its scores on each set.

    `cache`: folder in which finished runs are looked up and kept. `jobs`: runs at the same time; each takes about one
    processor core.
    """
    pairs = [(entrant, clips) for clips in sets for entrant in entrants]
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(run, *pair, cache): pair for pair in pairs}
        for number, done in enumerate(as_completed(running), 1):
            entrant, clips = running[done]
            if done.exception():
                pool.shutdown(wait=False, cancel_futures=True)
            total = done.result()["explanation"]
            minutes = (time.monotonic() - started) / 60
            say(f"{number:4} of {len(pairs)} after {minutes:.1f} min: {clips.name} {entrant.key} {total:.1f}")
    results = {pair: future.result() for future, pair in running.items()}
    return {entrant.key: [results[entrant, clips] for clips in sets] for entrant in entrants}


def run(entrant: Entrant, clips: ClipSet, cache: Path) -> Scores:
    """Run one entrant on one set, ingestion and then scoring, and return its scores by column."""
    records = ingested(entrant, clips, cache)

    def score(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="meaning-") as temporary:
            for name, target in (("ref", clips.reference_data), ("res", records)):
                (Path(temporary) / name).symlink_to(target.resolve())
            _program(SCORING / "scoring.py", Path(temporary), folder)

    key = digest(records, SCORING, clips.reference_data)
    scores: Scores = json.loads((once(cache / "scores" / key, score) / "scores.json").read_text(encoding="utf-8"))
    return scores


def ingested(entrant: Entrant, clips: ClipSet, cache: Path) -> Path:
    """Return the folder with the records of one entrant on one set."""
    with tempfile.TemporaryDirectory(prefix="meaning-") as temporary:
        submission = write_submission(entrant, Path(temporary) / "submission")

        def ingest(folder: Path) -> None:
            _program(INGESTION / "ingestion.py", clips.input_data, folder, INGESTION, submission)

        return once(cache / "runs" / digest(submission, INGESTION, clips.input_data), ingest)


def _program(program: Path, *arguments: Path) -> None:
    """Run one of the programs; its output is shown only if it fails."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(program), *map(str, arguments)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError(
            f"{program.name} ended with {ended.returncode}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        )
