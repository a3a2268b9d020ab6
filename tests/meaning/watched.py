"""What a gate can know of each call on a clip with a sham: twenty statistics of each part in each span.

It sees the calls without the noise, light, size and place that all of them share, and knows where the parts are: more
than a model can.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ingest.data import read_dataset
from ingest.draws import KeyedRandom
from ingest.evidence import seconds_of
from ingest.media.alteration import ClipSource
from ingest.media.blend import Composite
from ingest.media.exchange import Exchange
from ingest.media.video import FrameReader
from ingest.probes.plan import SPAN, filmed_units
from ingest.settings import read_task

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]
Places = tuple[tuple[int, ...], tuple[int, ...]]
"""Cells and seconds of a unit."""
FIRST, PLAIN = "first", "original"
"""The clip of the first pass, and the plain call of the second."""
LOOKS_A_SECOND = 8
"""Moments of each second that are looked at, each in two successive frames; and those around joins."""
STATISTICS = (
    *("brightness", "contrast", "darkest", "brightest", "red", "blue", "colourful", "skewness"),
    *("curvature", "fine detail", "coarse detail", "level edges", "upright edges", "height of the dark"),
    *("asymmetry", "edges along the seam", "seam against inside", "change", "largest change", "equal pixels"),
)
SEAM = 4
"""Width of the rim of an outline, pixels."""


@dataclass(frozen=True, eq=False)
class Watched:
    """One clip."""

    parts: tuple[str, ...]
    units: dict[str, Places]
    """By name: each part, and each span."""
    seen: dict[str, Array]
    """(spans, parts, 20) by call: FIRST, PLAIN and each unit."""


def write_watched(input_data: Path, file: Path, workers: int, looks_a_second: int = LOOKS_A_SECOND) -> None:
    """Watch all clips with a sham of a phase, and write what was seen.

    `input_data`: what ingestion reads. `workers`: processes. `looks_a_second`: see LOOKS_A_SECOND.
    """
    task = read_task(input_data / "task.yaml")
    dataset = read_dataset(input_data, task)
    grid = task.explanation.evidence.grid.rows, task.explanation.evidence.grid.columns
    clips = [clip for clip in dataset.clips if clip.clip_id in dataset.exchanges]
    with get_context("spawn").Pool(workers) as pool:
        watch = partial(_watch, grid, looks_a_second)
        seen = pool.map(watch, [(clip, dataset.exchanges[clip.clip_id]) for clip in clips], chunksize=1)
    file.write_text(json.dumps({clip.clip_id: one for clip, one in zip(clips, seen, strict=True)}), encoding="utf-8")


def read_watched(file: Path) -> dict[str, Watched]:
    """Read what `write_watched` wrote, by clip id."""
    return {
        clip_id: Watched(
            tuple(one["parts"]),
            {name: (tuple(cells), tuple(seconds)) for name, (cells, seconds) in one["units"].items()},
            {name: np.array(values) for name, values in one["seen"].items()},
        )
        for clip_id, one in json.loads(file.read_text(encoding="utf-8")).items()
    }


def _watch(grid: tuple[int, int], looks_a_second: int, job: tuple[ClipSource, Exchange]) -> dict[str, object]:
    cv2.setNumThreads(1)
    clip, exchange = job
    facts = clip.facts
    spans = exchange.spans_s(facts.duration_s)
    parts = tuple(part.name for part in exchange.parts)
    seconds = seconds_of(facts.duration_s)
    every = filmed_units(clip.clip_id, exchange, seconds, grid, seconds + len(parts), KeyedRandom(None, 1))
    size = facts.height, facts.width
    shown = {PLAIN: Composite(exchange, (), None, size)}
    for unit in every:
        name = str(unit.unit)
        span = spans[int(name.removeprefix(SPAN)) - 1] if name.startswith(SPAN) else None
        shown[name] = Composite(exchange, unit.parts, span, size)
    rows: dict[str, list[list[list[Array]]]] = {name: [[[] for _ in parts] for _ in spans] for name in (FIRST, *shown)}
    assert exchange.first is not None
    files = [clip.path, exchange.first, exchange.path]
    for both_s, own, sham, other in _moments(files, exchange, facts.times, looks_a_second):
        number = next(at for at, (_, end) in enumerate(spans) if both_s[0] < end or at == len(spans) - 1)
        moments = list(zip(sham, other, both_s, strict=True))
        pairs = {name: [mix.mix(*moment).copy() for moment in moments] for name, mix in shown.items()}
        for at, part in enumerate(exchange.parts):
            corners, known = part.corners_at(both_s[0]) * size[::-1], dict[bytes, Array]()
            for name, pair in ({FIRST: own} | pairs).items():
                crops, inside = around(pair, corners)
                key = b"".join(crop.tobytes() for crop in crops)
                if key not in known:  # most calls show the same there
                    known[key] = statistics(crops, inside)
                rows[name][number][at].append(known[key])
    seen = {
        name: [[[float(f"{value:.4g}") for value in np.mean(of, axis=0)] for of in span] for span in of_call]
        for name, of_call in rows.items()
    }
    units = {str(unit.unit): (unit.cells, unit.seconds) for unit in every}
    return {"parts": parts, "units": units, "seen": seen}


def _moments(
    files: list[Path], exchange: Exchange, times: Array, looks_a_second: int
) -> Iterator[tuple[list[float], list[Pixels], list[Pixels], list[Pixels]]]:
    """Yield two successive times at once, and the frames of each file then."""
    step = max(1, round(1 / looks_a_second / float(np.median(np.diff(times)))))
    joins = [int(np.searchsorted(times, join)) - 1 for join in exchange.joins_s]
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(FrameReader(file, threads=1))) for file in files]
        for index in sorted({*range(0, len(times) - 1, step), *joins}):
            own, sham, other = ([reader.decode(at).copy() for at in (index, index + 1)] for reader in readers)
            yield times[index : index + 2].tolist(), own, sham, other


def around(pictures: list[Pixels], corners: Array) -> tuple[list[Pixels], Array]:
    """Cut a part with its surroundings out of pictures; return them, and the part's corners there, (n, 2)."""
    left, top = np.maximum(np.floor(corners.min(0)).astype(int) - 2 * SEAM, 0)
    right, bottom = np.ceil(corners.max(0)).astype(int) + 2 * SEAM
    return [picture[top:bottom, left:right] for picture in pictures], corners - (left, top)


def statistics(crops: list[Pixels], corners: Array) -> Array:
    """Return the numbers of STATISTICS.

    `crops`: a part with its surroundings in two successive frames, BGR. `corners`: of the part, pixels, (n, 2).
    """
    crop, later = (picture.astype(np.float32) for picture in crops)
    drawn = np.zeros(crop.shape[:2], np.uint8)
    cv2.fillPoly(drawn, [np.rint(corners).astype(np.int32)], 1)
    kernel = np.ones((2 * SEAM + 1,) * 2, np.uint8)
    inside, seam = drawn > 0, (cv2.dilate(drawn, kernel) > 0) & (cv2.erode(drawn, kernel) == 0)
    grey, next_grey = crop.mean(axis=2), later.mean(axis=2)
    values, colours = grey[inside], crop[inside]
    spread = values.std() + 1e-3
    across, down = (np.abs(cv2.Sobel(grey, cv2.CV_32F, *order)) for order in ((1, 0), (0, 1)))
    edges, change = across + down, np.abs(next_grey - grey)[inside]
    heights = np.nonzero(inside)[0][values <= np.quantile(values, 0.1)]
    middle = values.mean()
    mirrored = np.abs(grey - grey[:, ::-1])[inside & inside[:, ::-1]]
    found = (
        middle,
        spread,
        np.quantile(values, 0.05),
        np.quantile(values, 0.95),
        (colours[:, 2] - colours[:, :2].mean(axis=1)).mean(),
        (colours[:, 0] - middle).mean(),
        np.ptp(colours, axis=1).mean(),
        ((values - middle) ** 3).mean() / spread**3,
        np.abs(cv2.Laplacian(grey, cv2.CV_32F))[inside].mean(),
        (grey - cv2.GaussianBlur(grey, (0, 0), 0.8))[inside].std(),
        (grey - cv2.GaussianBlur(grey, (0, 0), 2.0))[inside].std(),
        down[inside].mean(),
        across[inside].mean(),
        heights.mean() / len(inside),
        mirrored.mean() if mirrored.size else 0.0,
        edges[seam].mean(),
        edges[seam].mean() / (edges[inside].mean() + 1e-3),
        change.mean(),
        change.max(),
        (change == 0).mean(),
    )
    return np.array(found, np.float64)
