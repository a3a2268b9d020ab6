"""Boxes around faces, used to hide the face or everything else."""

from pathlib import Path

from ingest.clips.table import problem, read_rows
from ingest.errors import Problem
from ingest.media.altered.region import Box

COLUMNS = ["clip_id", "left", "top", "right", "bottom"]


def read_faces(path: Path, clip_ids: set[str], problems: list[Problem]) -> dict[str, Box]:
    """Return the box of every clip that has one; add mistakes to `problems`."""
    boxes = {}
    for where, (clip_id, *fields) in read_rows(path, COLUMNS, problems):
        try:
            left, top, right, bottom = map(float, fields)
        except ValueError:
            left, top, right, bottom = 0.0, 0.0, 0.0, 0.0
        if clip_id not in clip_ids:
            found, fix = ascii(clip_id)[:80], "correct the clip_id"
            problems.append(problem("clip_unknown", where, found, "a clip of the list", fix))
        elif not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            found, expected = ascii(",".join(fields))[:80], "left < right and top < bottom, fractions from 0 to 1"
            problems.append(problem("face_box", where, found, expected, "correct the box"))
        else:
            boxes[clip_id] = Box(left, top, right, bottom)
    return boxes
