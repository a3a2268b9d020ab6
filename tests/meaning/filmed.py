"""Drawn clips played as if they were filmed: a sham, other moments, joins and moving outlines, and no rendered copies.

Beside each clip stands what `bundle data exchanges` makes of a filmed one. A' is another drawing with nearly the same
mouth and glance, B has their counterparts. Both are the clip's own at the joins, where nothing happens in the face.
"""

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml

from bundle_tools.phase_data.files import by_clip, write_transcripts
from bundle_tools.synthetic.body import spells
from bundle_tools.synthetic.clip import DURATION_S, FPS, FRAMES, HEIGHT, WIDTH, ClipSpec, encode, render, scene_of
from bundle_tools.synthetic.dataset import Member, input_settings, plan, reference_settings, training_means
from bundle_tools.synthetic.exchange import FORMAT_VERSION, with_others
from bundle_tools.synthetic.face import EYES_BOX, MOUTH_BOX
from bundle_tools.synthetic.person import TARGETS, opaque_id, stream
from bundle_tools.synthetic.scene import _PIVOT, Picture, Scene, _corners
from bundle_tools.tables import write_table

PHASE = "practice"
FACE = (-1.0, -1.2, 1.0, 1.4)
"""Left, top, right and bottom of a face, units."""
BOXES = {"mouth": MOUTH_BOX, "eyes": EYES_BOX}
CUES = ("smile", "gaze")
ALIKE = 0.05
"""Standard deviation by which the cues of A' differ from the clip's."""
KEY_FRAMES = FPS // 5
"""Frames between two outlines."""
NEAR_S, LONG_S = 0.5, 2.0
"""Joins are at least this far apart, and longer times in which nothing happens are halved; seconds."""
FILMED_CHANGES: dict[str, Sequence[str]] = {
    "input": ("copies",),
    "reference": ("causes", "groups", "landmarks", "key_frames"),
}
"""Settings that drawn clips have and filmed ones lack."""


def write_filmed(inputs: Path, reference: Path, *, clips: int, seed: int, workers: int) -> None:
    """Write a phase of drawn clips as if they were filmed; two clips show one person.

    `inputs`, `reference`: empty folders. `workers`: processes.
    """
    for folder in (inputs / "clips", inputs / "exchanges"):
        folder.mkdir(parents=True)
    members = plan(PHASE, clips=clips, seed=seed)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        made = list(pool.map(partial(_make, inputs, seed), members))
    by_id = [(member.clip_id, *one) for member, one in zip(members, made, strict=True)]
    rows = [(clip_id, f"clips/{clip_id}.mp4", digest) for clip_id, _, _, digest, _ in by_id]
    write_table(inputs / "clips.csv", ("clip_id", "file", "sha256"), rows)
    faces = [(clip_id, *box) for clip_id, *_, box in by_id]
    write_table(inputs / "faces.csv", ("clip_id", "left", "top", "right", "bottom"), faces)
    write_transcripts(inputs, {clip_id: words for clip_id, _, words, _, _ in by_id})
    exchanges = {clip_id: entry for clip_id, entry, _, _, _ in by_id}
    (inputs / "exchanges.json").write_text(by_clip({"format_version": FORMAT_VERSION}, exchanges), encoding="utf-8")
    labels = [(m.clip_id, m.source_id, *(m.spec.labels()[name] for name in TARGETS)) for m in members]
    write_table(reference / "labels.csv", ("clip_id", "source_id", *TARGETS), labels)
    _settings(inputs, input_settings(PHASE), "input", faces="faces.csv")
    _settings(reference, reference_settings(PHASE, training_means()), "reference")


def _settings(folder: Path, text: str, side: str, **more: str) -> None:
    settings = {key: value for key, value in yaml.safe_load(text).items() if key not in FILMED_CHANGES[side]} | more
    settings["data_version"] = "played-1"
    (folder / "task.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


def sham_of(spec: ClipSpec) -> ClipSpec:
    """Return another drawing of nearly the same mouth and glance; their intensities stay evenly distributed."""
    random = stream(spec.seed, "sham")
    near = {cue: getattr(spec.cues, cue) + ALIKE * random.standard_normal() for cue in CUES}
    # Reflected at both ends.
    return replace(spec, cues=replace(spec.cues, **{cue: float(1 - abs(1 - abs(at))) for cue, at in near.items()}))


def joins_of(seed: int) -> list[float]:
    """Return the times at which spans meet, seconds: nothing happens in the face there."""
    when = spells(seed, DURATION_S)
    busy = sorted(when[cue] for cue in CUES)
    if busy[1][0] - busy[0][1] < NEAR_S:  # both in one span, or a join in the middle of what is between
        middle = [(busy[0][1] + busy[1][0]) / 2] if busy[1][0] > busy[0][1] else []
        edges = [busy[0][0], *middle, busy[1][1]]
    else:
        edges = [*busy[0], *busy[1]]
    joins = [edge for edge in edges if NEAR_S <= edge <= DURATION_S - NEAR_S]
    quiet = [(0.0, busy[0][0]), (busy[0][1], busy[1][0]), (busy[1][1], float(DURATION_S))]
    halves = [(begin + end) / 2 for begin, end in quiet if end - begin > LONG_S]
    return sorted(round(time, 2) for time in [*joins, *halves])


def _make(inputs: Path, seed: int, member: Member) -> tuple[dict[str, Any], str, str, list[float]]:
    """Draw a clip, A' and B into their files; return the entry of exchanges.json, words, SHA-256 and the face."""
    cv2.setNumThreads(1)
    sham = sham_of(member.spec)
    specs = [member.spec, sham, with_others(sham, BOXES)]
    scenes, own = [scene_of(spec) for spec in specs], render(member.spec)
    drawings = [list(frames) for frames in zip(*_frames(scenes), strict=True)]
    files = encode([replace(own, frames=iter(frames)) for frames in drawings])
    first = f"exchanges/{opaque_id('c', seed, member.clip_id, 'sham')}.mp4"
    names = [f"clips/{member.clip_id}.mp4", first, f"exchanges/{member.exchange_id}.mp4"]
    for name, content in zip(names, files, strict=True):
        (inputs / name).write_bytes(content)
    clip_hash, first_hash, other_hash = (hashlib.sha256(content).hexdigest() for content in files)
    corners = partial(_outline, scenes[0])
    keys = {name: [(at / FPS, corners(box, at)) for at in range(0, FRAMES, KEY_FRAMES)] for name, box in BOXES.items()}
    entry = {
        "first": {"file": first, "sha256": first_hash},
        "file": names[2],
        "sha256": other_hash,
        "joins_s": joins_of(member.spec.seed),
        "parts": [{"name": name, "keys": of_part} for name, of_part in keys.items()],
    }
    left, top, right, bottom = (np.array(FACE) * scenes[0].scale + (scenes[0].x, scenes[0].y) * 2).tolist()
    box = (left / WIDTH, top / HEIGHT, right / WIDTH, bottom / HEIGHT)
    return entry, own.transcript, clip_hash, [round(min(max(side, 0.0), 1.0), 4) for side in box]


def _frames(scenes: Sequence[Scene]) -> Iterable[list[Picture]]:
    """Yield the same frame of all scenes; where faces are the same, it is drawn once."""
    tracks = [
        np.array([getattr(scene.acts, name) for name in ("smile", "gaze_x", "gaze_y", "eyelids")]) for scene in scenes
    ]
    for index in range(FRAMES):
        first = scenes[0].draw(index)
        yield [
            first if np.array_equal(track[:, index], tracks[0][:, index]) else scene.draw(index)
            for scene, track in zip(scenes, tracks, strict=True)
        ]


def _outline(scene: Scene, box: tuple[float, float, float, float], index: int) -> list[list[int]]:
    corners = _corners(box, _PIVOT, *scene._head_at(index), scene.scale)
    listed: list[list[int]] = np.rint(np.clip(corners, 0, (WIDTH, HEIGHT))).astype(int).tolist()
    return listed
