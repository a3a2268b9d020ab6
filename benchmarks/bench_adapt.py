"""Preparing real clips without encoding them again, against copying the same files.

Clips of 15 s at 1280 x 720, from a folder and from an archive in an archive, become an organiser's folder: read once,
stripped, renamed, written, hashed. That may take 1.5 times as long as copying, and as long as hashing them.
"""

import argparse
import hashlib
import io
import os
import shutil
import statistics
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bundle_tools.adapt.dataset import Clip, Dataset, Part, Target
from bundle_tools.adapt.media import Treatment
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.scan import scan
from bundle_tools.adapt.settings import Rules
from bundle_tools.adapt.stage import Stage
from bundle_tools.adapt.writer import write

from benchmarks import workload

LIMIT = 1.5
ARCHIVE_CLIPS = 80


def make_sources(folder: Path, count: int) -> tuple[Path, Path]:
    """Write the clips as files and as archives of 80 in one archive; each clip differs in its last bytes."""
    plain, packed = folder / "plain", folder / "packed"
    plain.mkdir()
    packed.mkdir()
    originals = [path.read_bytes() for path in workload.make_clips()]
    with zipfile.ZipFile(packed / "outer.zip", "w") as outer:
        for start in range(0, count, ARCHIVE_CLIPS):
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as archive:
                for number in range(start, min(start + ARCHIVE_CLIPS, count)):
                    # A box of free space keeps every clip a file of its own.
                    data = originals[number % len(originals)] + (16).to_bytes(4, "big") + b"free%08d" % number
                    (plain / f"{number}.mp4").write_bytes(data)
                    archive.writestr(f"{number}.mp4", data)
            outer.writestr(f"inner{start}.zip", inner.getvalue())
    return plain, packed


def copy(source: Path, target: Path) -> float:
    """Return the seconds that copying every file takes."""
    os.sync()
    target.mkdir()
    started = time.perf_counter()
    for path in source.iterdir():
        shutil.copyfile(path, target / path.name)
    seconds = time.perf_counter() - started
    shutil.rmtree(target)
    return seconds


def hash_all(source: Path) -> float:
    """Return the seconds that hashing every file takes."""
    started = time.perf_counter()
    for path in source.iterdir():
        with path.open("rb") as file:
            hashlib.file_digest(file, "sha256")
    return time.perf_counter() - started


def adapt(source: Path, target: Path) -> float:
    """Return the seconds from a folder of files or archives to an organiser's folder."""
    os.sync()
    started = time.perf_counter()
    problems = Problems()
    places = scan(source, problems=problems)
    clips = tuple(Clip(place.name, f"person {place.name}", place, (0.5,)) for place in places)
    dataset = Dataset("benchmark", (Target("interview", "Interview", 0.0, 1.0),), "interview", clips)
    part = Part("final", clips, phase=True, closed=True)
    workers = os.cpu_count() or 1
    write(dataset, [part], Stage(target, 1), rules=Rules(), treatment=Treatment(), notes="", workers=workers)
    seconds = time.perf_counter() - started
    shutil.rmtree(target)
    return seconds


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=200, help="number of clips (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="times that everything is measured (default 5)")
    options = parser.parse_args()
    # Beside the clips, so that both sides use the same disk; what is in /tmp may be in memory.
    workload.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workload.CACHE) as temporary:
        folder = Path(temporary)
        plain, packed = make_sources(folder, options.clips)
        times = workload.interleave(
            {
                "copying": lambda: copy(plain, folder / "copy"),
                "hashing": lambda: hash_all(plain),
                "from files": lambda: adapt(plain, folder / "out"),
                "from archives": lambda: adapt(packed, folder / "out"),
            },
            options.rounds,
        )
    holds = True
    for name in ("from files", "from archives"):
        ratios = [
            (seconds - hashing) / copying
            for seconds, hashing, copying in zip(times[name], times["hashing"], times["copying"], strict=True)
        ]
        holds &= workload.verdict(f"{name}, without hashing, against copying", statistics.median(ratios), LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
