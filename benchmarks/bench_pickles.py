"""Reading the files of 2017: predictions of ChaLearn's size, and explanations with pictures of hundreds of megabytes.

The pictures are read like in ingestion: in the reading process, clip by clip. The kernel reports its peak of resident
memory.
"""

import argparse
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ingestion_program"))
from benchmarks import workload
from ingest.media.clip import ClipSource
from ingest.media.video import ClipFacts
from ingest.results.reader import ResultsReader
from ingest.settings import read_task
from model_process.results.pickles import read_pickle

TARGETS, CLIPS, SHAPE = 6, 6000, (200, 355, 3)
LIMIT_S = 1.0
LIMIT_MB = 128.0
FACTS = ClipFacts(1.0, 25.0, 64, 64, np.zeros(25))
U1 = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


def predictions() -> dict[str, dict[str, np.float64]]:
    """Return numbers for all targets and clips, as NumPy scalars."""
    values = np.random.default_rng(1).uniform(0, 1, (TARGETS, CLIPS))
    names = [f"J4GQm{number:06d}.{number % 6:03d}.mp4" for number in range(CLIPS)]
    return {f"target{at}": dict(zip(names, row, strict=True)) for at, row in enumerate(values)}


def description(clips: int) -> Iterator[bytes]:
    """Yield a pickle in pieces as Python 2 writes it: {clip: (text, picture)}."""
    rng = np.random.default_rng(2)
    yield b"\x80\x02}"
    for number in range(clips):
        name = b"v%06d.000.mp4" % number
        text = b"This gentleman looks into the camera and speaks calmly, so he is invited."
        pixels = rng.integers(0, 256, SHAPE, np.uint8).tobytes()
        yield b"U" + bytes([len(name)]) + name + b"U" + bytes([len(text)]) + text
        yield b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01(K\xc8Mc\x01K\x03t" + U1
        yield b"\x89T" + len(pixels).to_bytes(4, "little") + pixels + b"tb\x86s"
    yield b"."


def read_all(folder: Path, clips: int) -> tuple[float, float]:
    """Return the seconds and the peak of the reading process's memory, MB, for the explanations of all clips."""
    task = read_task(Path(__file__).resolve().parents[1] / "input_data" / "practice" / "task.yaml")
    sources = [ClipSource(f"v{number:06d}.000.mp4", folder, "") for number in range(clips)]
    names = dict.fromkeys(source.clip_id for source in sources)
    reader = ResultsReader(folder, None, task, names)
    started = time.monotonic()
    try:
        reader.start(120)
        for source in sources:
            explanation = reader.explain(source, FACTS, {}, 30)
            assert isinstance(explanation, dict)
            assert explanation["image"].shape == SHAPE
        seconds = time.monotonic() - started
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{reader.process.pid}/status").read_text("ascii"))
    finally:
        reader.stop()
    return seconds, int(peak) / 1024


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=2000, help="clips with pictures (default 2000: 426 MB)")
    options = parser.parse_args()
    holds = True
    numbers = predictions()
    for protocol in (0, 2, 5):
        data = pickle.dumps(numbers, protocol)
        times = []
        for _ in range(3):
            started = time.process_time()
            assert len(read_pickle(data)) == TARGETS
            times.append(time.process_time() - started)
        name = (
            f"{TARGETS} x {CLIPS} numbers, protocol {protocol}, {len(data) / 2**20:.1f} MB: seconds of processor time"
        )
        holds &= workload.verdict(name, min(times), LIMIT_S)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        clip_numbers = {"target": {f"v{number:06d}.000.mp4": 0.5 for number in range(options.clips)}}
        (folder / "prediction.pkl").write_bytes(pickle.dumps(clip_numbers, 2))
        with (folder / "description.pkl").open("wb") as file:
            file.writelines(description(options.clips))
        size = (folder / "description.pkl").stat().st_size / 1e6
        seconds, peak = read_all(folder, options.clips)
        print(f"{options.clips} pictures, {size:.0f} MB: {seconds:.1f} s")
        holds &= workload.verdict(f"reading process with {size:.0f} MB of pictures, MB", peak, LIMIT_MB)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
