"""Cost of altered copies: altering compared with decoding, and a whole run with its second pass.

Altering: four calls for one clip, each decoded and altered, compared with only decoding the same frames. Thumbnails,
which the calls share, are made once and count. A ratio of 2 means that altering costs as much as decoding.

Sharing: the same for all calls of a clip, with frames decoded once.

A whole run: the practice set with the example solution, all probes, as a process of its own.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ingestion_program"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from ingest.media.alteration import Alteration, Jitter, Slow
from ingest.media.cache import ClipCache
from ingest.media.exchange import Box, Cells, Exchange, Outside, Part
from ingest.media.painter import Painter
from ingest.media.video import ClipFacts, FrameReader, FrameRequest, Reader, wanted_frames

ROOT = Path(__file__).resolve().parents[1]
RATIO_LIMIT = 2.5
"""An exchange decodes two files."""
SHARING_LIMIT = 0.4
RUN_LIMIT_S = 120.0
CALLS = 4
"""Masked calls of one axis of a clip: they share its thumbnails."""
SIZES = ((640, 360), (1280, 720))
REQUESTS = {"8 frames": FrameRequest(count=8), "all frames": FrameRequest()}


def alterations(material: ClipCache, call: int) -> Iterator[tuple[str, Alteration]]:
    """Yield every alteration that touches pixels or frames, by name."""
    plain = Alteration(material, Jitter(1.005, 1.0, 2, -1, 1), seed=call)
    yield "original", plain
    places = np.random.default_rng(call).permutation(144)[:43].tolist()
    scattered = Cells(9, 16, tuple(places))
    for operator in ("imputation", "blur", "median", "moment"):
        yield operator, replace(plain, region=scattered, operator=operator)
    block = Cells(9, 16, tuple(row * 16 + column for row in range(1, 9) for column in range(4, 13)))
    yield "imputation of half the frame", replace(plain, region=block, operator="imputation")
    rest = Cells(9, 16, tuple(sorted(set(range(144)).difference(places))))
    yield "imputation of all but the named places", replace(plain, region=rest, operator="imputation")
    yield "hide_face", replace(plain, region=Box(0.35, 0.15, 0.65, 0.75))
    yield "hide_background", replace(plain, region=Outside(Box(0.35, 0.15, 0.65, 0.75)))
    left = Part("left", ((0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0)), None)
    yield "exchange", replace(plain, exchange=Exchange(material.path, "", (left,)), exchanged=("left",))
    yield "frozen seconds", replace(plain, seconds=(1, 3))
    yield "slow", replace(plain, slow=Slow(0.5, 0.2))
    yield "relight", replace(plain, brightness=0.4)
    yield "reframe", replace(plain, zoom=1.25)


def decode(
    path: Path, request: FrameRequest, facts: ClipFacts, alteration: Alteration | None, *, shared: bool = False
) -> float:
    """Return the seconds that reading the frames of one request takes, altered or not, by one thread."""
    started = time.perf_counter()
    asked = wanted_frames(request, facts)
    frame = np.empty((facts.height, facts.width, 3), np.uint8)
    wanted, painter = asked, None

    def kept(file: Path) -> Reader | None:
        return alteration.cache.frames(file, asked, lambda: True) if shared and alteration else None

    if alteration is not None:
        wanted, painter = alteration.shown(asked), Painter(alteration, (facts.height, facts.width, 3), kept)
    reader = kept(path) or FrameReader(path, threads=1)
    for place, index in zip(asked.tolist(), wanted.tolist(), strict=True):
        reader.read_into(index, frame, painter, place)
    reader.close()
    if painter is not None:
        painter.close()
    return time.perf_counter() - started


def measure_altering(paths: list[Path], rounds: int, case: str) -> bool:
    """Print the ratio of each alteration whose name contains `case`, at each size; return whether all limits hold."""
    holds = True
    cv2.setNumThreads(1)
    for path in paths:
        facts = ClipCache(path).facts
        for asked, request in REQUESTS.items():
            decode(path, request, facts, None)
            names = [name for name, _ in alterations(ClipCache(path), 0)]
            for number, name in ((number, name) for number, name in enumerate(names) if case in name):
                ratios = []
                for _ in range(rounds):
                    material, altered, plain = ClipCache(path), 0.0, 0.0
                    _ = material.facts  # read for every clip, altered or not
                    for call in range(CALLS):
                        alteration = [made for _, made in alterations(material, call)][number]
                        plain += decode(path, request, facts, None)
                        altered += decode(path, request, facts, alteration)
                    ratios.append(altered / plain)
                what = f"{facts.width} x {facts.height}, {asked}, {name}: altered against plain decoding"
                holds &= workload.verdict(what, statistics.median(ratios), RATIO_LIMIT)
    return holds


def measure_sharing(paths: list[Path], rounds: int) -> bool:
    """Print the ratio of all calls of a clip that share their frames, at each size; return whether the limit holds."""
    holds, request = True, REQUESTS["8 frames"]
    for path in paths:
        facts, ratios = ClipCache(path).facts, []
        for _ in range(rounds):
            material = ClipCache(path)
            calls = [made for _, made in alterations(material, 0)]
            material.share(calls)
            altered = sum(decode(path, request, facts, call, shared=True) for call in calls)
            ratios.append(altered / sum(decode(path, request, facts, None) for _ in calls))
        what = f"{facts.width} x {facts.height}, 8 frames, {len(calls)} calls that share frames: against plain decoding"
        holds &= workload.verdict(what, statistics.median(ratios), SHARING_LIMIT)
    return holds


def measure_run(phase: Path, solution: Path) -> bool:
    """Print how long a whole run takes; return whether that is within the limit."""
    with tempfile.TemporaryDirectory() as temporary:
        seconds = workload.ingest(phase, solution, Path(temporary) / "output")
        run = json.loads((Path(temporary) / "output" / "run.json").read_text())
    probes = run["probes"]
    print(f"     {run['clips']['total']} clips, probes: {probes}", flush=True)
    complete = probes is not None and probes["asked"] == probes["planned"]
    return workload.verdict(f"{phase.name} set with {solution.name}, seconds in all", seconds, RUN_LIMIT_S) and complete


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="times that each alteration is measured (default 3)")
    parser.add_argument("--only", choices=["altering", "run"], help="measure only this")
    parser.add_argument("--case", default="", help="of the alterations only those with this in their name")
    options = parser.parse_args()
    holds = True
    if options.only != "run":
        paths = [workload.make_small_clip(width, height) for width, height in SIZES]
        holds &= measure_altering(paths, options.rounds, options.case)
        holds &= measure_sharing(paths, options.rounds)
    if options.only != "altering":
        holds &= measure_run(ROOT / "input_data" / "practice", ROOT / "solutions" / "cue_reader")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
