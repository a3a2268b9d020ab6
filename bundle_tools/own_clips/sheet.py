"""A private page with all clips of an organiser's folder: a picture, length, sound, labels and part of each."""

import base64
import csv
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
from av.error import FFmpegError

from bundle_tools.atomic import write_text
from bundle_tools.console import Progress
from bundle_tools.own_clips.dataset import LabelledSet
from bundle_tools.page import render
from bundle_tools.phase_data.pictures import middle_frame, small_jpeg

FILE = "private/clips.html"
WIDTH = 160
"""Of the pictures, pixels: a page of 5,000 clips takes about 20 MB."""


def write_sheet(folder: Path, dataset: LabelledSet, workers: int, progress: Progress | None = None) -> None:
    """Write the page from the finished clips and ``private/clips.csv``; clips of one person lie side by side.

    `folder`: the organiser's. `dataset`: gives the labels.
    """
    with (folder / "private/clips.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["part"], row["source"], row["name"]))
    labels = {clip.name: clip.labels for clip in dataset.clips}
    parts: dict[str, list[Mapping[str, object]]] = {}
    with ThreadPoolExecutor(workers) as pool:
        pictures = pool.map(lambda row: _picture(folder / row["file"]), rows)
        for done, (row, picture) in enumerate(zip(rows, pictures, strict=True), 1):
            card = {**row, "picture": picture, "labels": labels[row["name"]], "duration_s": float(row["duration_s"])}
            parts.setdefault(row["part"], []).append(card)
            if progress is not None:
                progress(done, len(rows))
    titles: Sequence[str] = [target.title for target in dataset.challenge.targets]
    page = render(Path(__file__).parent / "templates", "clips", parts=parts, titles=titles, width=WIDTH)
    write_text(folder / FILE, page)


def _picture(clip: Path) -> str:
    """Return a JPEG of the frame in the middle, in base64; empty if it cannot be decoded."""
    try:
        frame = middle_frame(clip.read_bytes())[0]
    except (FFmpegError, ValueError, IndexError):
        return ""
    height = max(1, round(frame.shape[0] * WIDTH / frame.shape[1]))
    small = np.asarray(cv2.resize(frame, (WIDTH, height), interpolation=cv2.INTER_AREA), np.uint8)
    return base64.b64encode(small_jpeg(small)).decode()
