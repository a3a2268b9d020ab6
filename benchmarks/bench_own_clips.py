"""Preparing real clips without encoding them again and finding faces, against decoding each of them once.

Clips of 15 s at 1280 x 720, from a folder and from an archive in an archive, become an organiser's folder: read, muxed
without metadata, renamed, written, hashed. That may take a tenth of decoding, and finding their faces twice as long.
"""

import argparse
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
from benchmarks import workload
from bundle_tools.challenge.rules.clips.video import count_frames
from bundle_tools.own_clips.dataset import Clip, Dataset, Part
from bundle_tools.own_clips.faces.find import find_faces
from bundle_tools.own_clips.files.scan import scan
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.writing.data import Options, write
from bundle_tools.own_clips.writing.stage import Stage
from bundle_tools.phase_data.settings import Challenge, Target

LIMIT = 0.1
FACES_LIMIT = 2.0
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


def decode(count: int) -> float:
    """Return the processor seconds that decoding so many of the clips takes."""
    originals = [path.read_bytes() for path in workload.make_clips()]
    started = time.process_time()
    for data in originals:
        count_frames(data)
    return (time.process_time() - started) * count / len(originals)


def prepare(source: Path, target: Path) -> float:
    """Return the processor seconds from a folder of files or archives to an organiser's folder."""
    started = time.process_time()
    places = scan(source, problems=Problems())
    clips = tuple(Clip(place.name, f"person {place.name}", place, (0.5,)) for place in places)
    challenge = Challenge(targets=(Target("interview", "Interview", 0.0, 1.0),), main_target="interview")
    workers = os.cpu_count() or 1
    parts = [Part("final", clips)]
    write(Dataset("benchmark", challenge, clips), parts, Stage(target, 1), Options(), notes="", workers=workers)
    seconds = time.process_time() - started
    shutil.rmtree(target)
    return seconds


def look(source: Path) -> float:
    """Return the processor seconds of finding the faces of all clips in a folder."""
    started = time.process_time()
    find_faces([(path.name, path) for path in source.iterdir()], os.cpu_count() or 1)
    return time.process_time() - started


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=200, help="number of clips (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="times that everything is measured (default 5)")
    options = parser.parse_args()
    workload.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workload.CACHE) as temporary:
        folder = Path(temporary)
        plain, packed = make_sources(folder, options.clips)
        times = workload.interleave(
            {
                "decoding": lambda: decode(options.clips),
                "from files": lambda: prepare(plain, folder / "out"),
                "from archives": lambda: prepare(packed, folder / "out"),
                "faces": lambda: look(plain),
            },
            options.rounds,
        )
    holds = True
    for name, limit in (("from files", LIMIT), ("from archives", LIMIT), ("faces", FACES_LIMIT)):
        ratios = [seconds / decoding for seconds, decoding in zip(times[name], times["decoding"], strict=True)]
        holds &= workload.verdict(f"{name}, against decoding", statistics.median(ratios), limit)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
