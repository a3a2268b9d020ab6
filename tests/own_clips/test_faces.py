"""Faces: one box around a moving face, nothing where there is none, and a page to look them over."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from bundle_tools.own_clips.faces import FoundFace, around, faces_page, find_faces, write_faces

from .clips import make_clip

FACE = (0.4, 0.2, 0.6, 0.5)
MOVED = (0.45, 0.25, 0.65, 0.55)
ELSEWHERE = (0.0, 0.8, 0.1, 0.95)


def test_the_box_holds_the_face_wherever_it_moves_and_nothing_else() -> None:
    box, seen = around([FACE, MOVED, FACE, ELSEWHERE])
    assert seen == 3
    assert box is not None
    # From 0.4 to 0.65 and from 0.2 to 0.55, with 15 % of the width and height on each side.
    assert box == pytest.approx((0.3625, 0.1475, 0.6875, 0.6025))
    order = np.random.default_rng(1).permutation(4)
    assert around([[FACE, MOVED, FACE, ELSEWHERE][i] for i in order]) == (box, seen)


def test_the_box_stays_inside_the_picture() -> None:
    box, _ = around([(0.0, 0.0, 1.0, 1.0)])
    assert box == (0.0, 0.0, 1.0, 1.0)
    assert around([]) == (None, 0)


def test_a_clip_without_a_face_or_pictures_has_no_box(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(make_clip(1))
    (tmp_path / "b.mp4").write_bytes(b"no clip")
    told: list[tuple[int, int]] = []
    clips = [("a", tmp_path / "a.mp4"), ("b", tmp_path / "b.mp4"), ("c", tmp_path / "none.mp4")]
    found = find_faces(clips, 2, lambda done, of: told.append((done, of)))
    assert [(one.clip_id, one.box) for one in found] == [("a", None), ("b", None), ("c", None)]
    assert (found[0].frames > 0, found[1].frames, found[1].picture) == (True, 0, b"")
    assert told == [(1, 3), (2, 3), (3, 3)]
    page = faces_page({"practice": found})
    assert "0 of 3 clips with a face" in page
    assert page.count("cannot be decoded") == 2


def test_the_page_says_which_edge_each_number_is() -> None:
    page = faces_page({"practice": [FoundFace("a", (0.1, 0.25, 0.5, 0.75), 3, 4, b"")]})
    assert "left 0.10, top 0.25, right 0.50, bottom 0.75" in " ".join(page.split())


@pytest.mark.footage
def test_faces_of_people_are_found(footage: Path) -> None:
    (one,) = find_faces([("x", footage / "single_face.mp4")], 1)
    assert one.box is not None
    left, top, right, bottom = one.box
    assert (left < 0.5 < right, top < 0.5 < bottom) == (True, True)
    assert one.seen == one.frames
    assert Image.open(io.BytesIO(one.picture)).width == 355


def test_settings_name_the_table(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("task: practice\n")
    found = [FoundFace("b", FACE, 3, 4, b""), FoundFace("a", MOVED, 4, 4, b""), FoundFace("c", None, 0, 4, b"")]
    write_faces(found, tmp_path)
    rows = list(csv.reader((tmp_path / "faces.csv").open()))
    assert rows == [
        ["clip_id", "left", "top", "right", "bottom"],
        ["a", "0.4500", "0.2500", "0.6500", "0.5500"],
        ["b", "0.4000", "0.2000", "0.6000", "0.5000"],
    ]
    assert yaml.safe_load((tmp_path / "task.yaml").read_text())["faces"] == "faces.csv"
