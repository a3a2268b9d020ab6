"""Clips, phases and submissions for benchmarks; made once and kept in `.cache/benchmarks`."""

import csv
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import av
import cv2
import numpy as np
import yaml

from bundle_tools.tables import write_table

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "benchmarks"
PROGRAM = ROOT / "ingestion_program"
FPS, SECONDS, WIDTH, HEIGHT, BITS_A_SECOND = 30, 15, 1280, 720, 1_500_000
DISTINCT = 4
OTHER_COLOUR = (60, 200, 120)
PARTS = [
    {"name": name, "outline": [[280, top], [1000, top], [1000, top + 290], [280, top + 290]]}
    for name, top in (("eyes", 50), ("mouth", 370))
]
"""What is exchanged: the upper and the lower half of where the faces move, pixels."""

MODEL = """\
import time
import numpy as np

def work(frame):
    {work}

class Model:
    def __init__(self, assets): pass
    def predict(self, clip):
        for frame in clip.frames({request}):
            work(frame)
        return {{"interview": 0.5}}
    def explain(self, clip, prediction):
        return {{"text": "This model only measures the time."}}
"""


def make_clips(name: str = "clip", colour: tuple[int, int, int] = (150, 180, 220)) -> list[Path]:
    """Return clips like those of the field: 15 s, 1280 x 720, 30 fps, H.264 at 1.5 Mbit/s, texture and sound.

    `colour`: of their faces, BGR; all else is the same in clips of the same number.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    paths = [CACHE / f"{name}{number}.mp4" for number in range(DISTINCT)]
    for number, path in enumerate(paths):
        if not path.exists():
            print(f"making {path.name}", flush=True)
            _write_clip(path.with_suffix(".part.mp4"), seed=number, colour=colour)
            path.with_suffix(".part.mp4").rename(path)
    return paths


def _write_clip(
    path: Path,
    seed: int,
    *,
    colour: tuple[int, int, int] = (150, 180, 220),
    width: int = WIDTH,
    height: int = HEIGHT,
    seconds: int = SECONDS,
    fps: int = FPS,
) -> None:
    rng = np.random.default_rng(seed)
    texture = cv2.GaussianBlur(rng.integers(0, 256, (height * 2, width * 2, 3), np.uint8), (0, 0), 4)
    texture = cv2.equalizeHist(texture.reshape(height * 2, -1)).reshape(texture.shape)
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=fps, options={"preset": "medium"})
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt, video.bit_rate = width, height, "yuv420p", BITS_A_SECOND
        sound = container.add_stream("aac", rate=44_100)
        assert isinstance(sound, av.AudioStream)
        sound.layout = "mono"
        for number in range(fps * seconds):
            x = int(width / 2 * (1 + np.sin(number / 40)))
            y = int(height / 2 * (1 + np.cos(number / 55)))
            frame = texture[y : y + height, x : x + width].copy()
            centre = (
                int(width / 2 + width / 6.4 * np.sin(number / 20)),
                int(height / 2 + height / 12 * np.cos(number / 13)),
            )
            cv2.ellipse(frame, centre, (round(width / 9.85), height // 4), 5 * np.sin(number / 9), 0, 360, colour, -1)
            frame = cv2.add(frame, rng.integers(0, 7, frame.shape, np.uint8)).astype(np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(np.asarray(frame, np.uint8), format="bgr24")))
        container.mux(video.encode(None))
        for start in range(0, 44_100 * seconds - 1024, 1024):
            wave = 0.2 * np.sin(np.arange(start, start + 1024) / 20, dtype=np.float32)
            piece = av.AudioFrame.from_ndarray(wave[None].astype(np.float32), format="fltp", layout="mono")
            piece.sample_rate, piece.pts = 44_100, start
            container.mux(sound.encode(piece))
        container.mux(sound.encode(None))


def make_phase(folder: Path, count: int, *, at_most: str = "full", exchanges: bool = False) -> Path:
    """Write an input folder of `count` clips (links to the distinct ones).

    `at_most`: the isolation to use. `exchanges`: whether there is a second pass, in which halves of faces are
    exchanged.
    """
    sources, others = make_clips(), make_clips("other", OTHER_COLOUR) if exchanges else []
    for name in ("clips", "exchanges"):
        (folder / name).mkdir(parents=True)
    digests = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (*sources, *others)}
    listed = {}
    rows = []
    for number in range(count):
        source = sources[number % len(sources)]
        name = f"clips/c{number:04d}.mp4"
        os.link(source, folder / name)
        rows.append((f"c{number:04d}", name, digests[source]))
        if exchanges:
            other, name = others[number % len(others)], f"exchanges/e{number:04d}.mp4"
            os.link(other, folder / name)
            listed[f"c{number:04d}"] = {"file": name, "sha256": digests[other], "parts": PARTS}
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    (folder / "transcripts.json").write_text("{}")
    settings: dict[str, object] = {
        "format_version": 1,
        "task": "benchmark",
        "data_version": "benchmark",
        "seed": 1,
        "clips": "clips.csv",
        "transcripts": "transcripts.json",
        "targets": [{"name": "interview", "minimum": 0.0, "maximum": 1.0}],
        "limits": {"time_limit_s": 100_000, "load_s": 60, "call_s": 600, "restarts": 0, "workers": 1},
        "explanation": {
            "text": {"minimum_chars": 20, "maximum_chars": 1200},
            "image": {"width": 355, "height": 200},
            "evidence": {"grid": {"rows": 9, "columns": 16}, "cues": ["smile"]},
        },
        "feedback": {"model_output": False},
        "isolation": {"at_most": at_most},
    }
    if exchanges:
        (folder / "exchanges.json").write_text(json.dumps({"format_version": 2, "clips": listed}))
        jitter = {"gain": 0.01, "shift_px": 2, "frames": 1}
        settings |= {"exchanges": "exchanges.json", "probes": {"edits": 3, "jitter": jitter}}
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    return folder


def write_model(folder: Path, *, request: str, work: str = "pass") -> Path:
    """Write a submission that reads the frames of `request` and does `work` on each."""
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(MODEL.format(request=request, work=work))
    return folder


def ingest(phase: Path, submission: Path, output: Path) -> float:
    """Run ingestion as a process and return its wall time in seconds."""
    command = [sys.executable, str(PROGRAM / "ingestion.py"), *map(str, (phase, output, PROGRAM, submission))]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    run = json.loads((output / "run.json").read_text())
    if done.returncode or run["clips"]["ok"] != run["clips"]["total"]:
        raise SystemExit(done.stdout + done.stderr)
    return seconds


def people_of(phase: str) -> dict[str, str]:
    """Return the person of each clip of a phase of the bundle, by clip id."""
    with (ROOT / "reference_data" / phase / "labels.csv").open() as file:
        return {row["clip_id"]: row["source_id"] for row in csv.DictReader(file)}


def asked(clips: int) -> int:
    """Return how often `predict` is called for a number of clips: once each, a warm-up, and some repeats."""
    return clips + 1 + min(10, max(2, math.ceil(clips * 0.02)))


def run_script(source: str, *arguments: str) -> float:
    """Run a bare loop as a process of its own and return its wall time in seconds."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", source, *arguments], check=True)
    return time.perf_counter() - started


def interleave(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure every case once per round, in alternating order, so that drifts of the speed affect all alike."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name, measure in [*cases.items()][:: -1 if number % 2 else 1]:
            times[name].append(measure())
            print(f"  round {number + 1}: {name} {times[name][-1]:.2f} s", flush=True)
    return times


def median_ratio(above: list[float], below: list[float]) -> float:
    """Return the median of the pairwise ratios."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def verdict(what: str, value: float, limit: float) -> bool:
    """Print one figure beside its limit."""
    holds = value <= limit
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {value:.2f} (at most {limit:.2f})", flush=True)
    return holds
