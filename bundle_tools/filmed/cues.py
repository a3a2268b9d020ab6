"""What a model could measure to tell a call with an edited cue from a plain one: picture and sound as a whole.

The calls are made by ingestion's own classes. A filter without a sham, one brightness for all, must be found by the
same detectors.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.reading.tables import read_settings
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.filmed.face import Array
from bundle_tools.filmed.features import ALTERED, CONTROL, PLAIN
from bundle_tools.filmed.phase import FilmedPhase
from bundle_tools.programs import use_own_program

use_own_program("ingestion_program")
from ingest.data import read_faces  # noqa: E402
from ingest.draws import KeyedRandom  # noqa: E402
from ingest.media.alteration import Alteration, ClipSource, Levels, draw_jitter  # noqa: E402
from ingest.media.cache import ClipCache  # noqa: E402
from ingest.media.video import FrameReader, UnreadableClip  # noqa: E402
from ingest.probes.edits import EDITS, POWERS, Traits, plain_levels, traits_of  # noqa: E402
from ingest.settings import JitterRange  # noqa: E402

SEED = 0
"""Of the draws that are measured."""
JITTER = JitterRange(0.01, 2, 1)
FRAMES, EVERY = 6, 10
"""Frames that are looked at, and how far they are apart."""
BANDS = 10
"""Bands of spatial frequency, from the mean to the finest detail."""
RATE, WINDOW = 16_000, 800
"""Samples per second, and in one window of the sound."""
FIXED = 0.7
"""Brightness of the positive control, as a share of the full range."""
Vectors = dict[str, dict[str, list[float]]]
"""Features by intervention and kind of call."""


def add_cues(phase: FilmedPhase, results: Sequence[Mapping[str, Any]], workers: int) -> list[dict[str, Any]]:
    """Return the results of a phase with features of its cue edits, for clips with exchanges; see `job.exchange`."""
    table = (read_settings(DataFiles(phase.inputs)) or {}).get("faces")
    heights = read_faces(phase.inputs / table, {clip for clip, *_ in phase.clips}, []) if isinstance(table, str) else {}

    def measured(clip: tuple[str, str, str]) -> Traits:
        return traits_of(ClipSource(clip[0], phase.inputs / clip[1], ""), heights.get(clip[0]))

    with ThreadPoolExecutor(workers) as pool:
        traits = dict(zip((clip for clip, *_ in phase.clips), pool.map(measured, phase.clips), strict=True))

        def with_cues(result: Mapping[str, Any]) -> dict[str, Any]:
            if result["entry"] is None:
                return dict(result)
            shown = phase.inputs / result["entry"]["first"]["file"]
            return {**result, "features": {**result["features"], **cue_features(result["clip_id"], shown, traits)}}

        return list(pool.map(with_cues, results))


def cue_features(clip_id: str, shown: Path, traits: Mapping[str, Traits]) -> Vectors:
    """Return features of plain and edited calls on a clip, by cue.

    `shown`: the file that plain calls show. `traits`: of all clips of the phase.
    """
    draws, own = KeyedRandom(None, SEED), traits[clip_id]
    plain = plain_levels(own, draws.generator("levels", clip_id))
    edited: dict[str, Levels] = {}
    for cue, edit in EDITS.items():
        random = draws.generator("edit", clip_id, cue)
        others = [clip for clip in sorted(traits) if clip != clip_id and edit.known(traits[clip])]
        if others and edit.known(own):
            value = edit.draw(own, traits[others[int(random.integers(len(others)))]], random)
            edited[cue] = replace(plain, **{edit.field: value})
    if not edited:
        return {}
    cache = ClipCache(ClipSource(clip_id, shown, ""))
    call = Alteration(cache, draw_jitter(JITTER, draws, clip_id), draws.seed("noise", clip_id), levels=plain)
    try:
        last = len(cache.facts.times) - 1
        with closing(FrameReader(shown, threads=1)) as reader:
            frames = [(index, reader.decode(index).copy()) for index in range(0, min(FRAMES * EVERY, last + 1), EVERY)]
    except UnreadableClip:
        return {}

    def vector(levels: Levels) -> list[float]:
        return _vector(replace(call, levels=levels), frames)

    unaltered = vector(plain)
    found = {cue: {PLAIN: unaltered, ALTERED: vector(levels)} for cue, levels in edited.items()}
    if "lighting" in found:
        power = float(np.interp(-FIXED, -own.means, POWERS))
        found["lighting"][CONTROL] = vector(replace(plain, power=power))
    return found


def _vector(call: Alteration, frames: Sequence[tuple[int, NDArray[np.uint8]]]) -> list[float]:
    transform, picture = call.transform, np.empty_like(frames[0][1])
    pictures = []
    for index, frame in frames:
        transform.write(index, frame, picture)
        pictures.append(_of_picture(picture))
    rows = np.array(pictures)
    return [*rows.mean(axis=0).tolist(), *rows.std(axis=0).tolist(), *_of_sound(call)]


def _of_picture(picture: NDArray[np.uint8]) -> Array:
    """Return the levels of a picture, RGB, gaps between them, and the energy of its detail by spatial frequency."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    shares = np.bincount(grey.ravel(), minlength=256) / grey.size
    height, width = grey.shape
    middle = grey[height // 4 : -height // 4, width // 4 : -width // 4].astype(np.float32)
    window = np.outer(np.hanning(middle.shape[0]), np.hanning(middle.shape[1]))
    energy = np.abs(np.fft.rfft2(middle * window)) ** 2
    radius = np.hypot(np.fft.fftfreq(middle.shape[0])[:, None], np.fft.rfftfreq(middle.shape[1])[None])
    band = np.minimum((2 * BANDS * radius).astype(int), BANDS - 1)
    detail = np.log(np.bincount(band.ravel(), energy.ravel(), BANDS) / np.bincount(band.ravel(), minlength=BANDS) + 1)
    colours = cv2.cvtColor(picture, cv2.COLOR_RGB2HSV).reshape(-1, 3).mean(axis=0)[1:]
    gaps = np.abs(np.diff(shares, 2)).sum(), float((shares[20:-20] == 0).mean())
    ends = shares[:3].sum(), shares[-3:].sum()
    return np.array([*np.percentile(grey, [1, 10, 50, 90, 99]), grey.std(), *colours, *gaps, *ends, *detail])


def _of_sound(call: Alteration) -> list[float]:
    """Return levels of the sound, how far its peak is from them, and its energy by frequency; zeros without sound."""
    sound = call.sound(RATE)
    windows = np.zeros((0, WINDOW)) if sound is None else sound[: len(sound) // WINDOW * WINDOW].reshape(-1, WINDOW)
    if not len(windows):
        return [0.0] * 15
    levels = 10 * np.log10(np.mean(windows.astype(np.float64) ** 2, axis=1) + 1e-10)
    peak = float(np.abs(windows).max())
    shares = float((np.abs(windows) > 0.98 * peak).mean()), float((np.abs(windows) > 0.98).mean())
    energy = np.mean(np.abs(np.fft.rfft(windows)) ** 2, axis=0)[1:]
    bands = [float(np.log(part.mean() + 1e-10)) for part in np.array_split(energy, 7)]
    return [*np.percentile(levels, [2, 25, 50, 75, 98]).tolist(), peak, *shares, *bands]
