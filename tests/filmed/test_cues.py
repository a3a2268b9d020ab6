"""Cue edits of filmed clips: what detectors are shown of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bundle_tools.filmed.cues import Vectors, add_cues, cue_features
from bundle_tools.filmed.features import ALTERED, CONTROL, PLAIN
from bundle_tools.filmed.phase import FilmedPhase
from ingest.media.alteration import ClipSource
from ingest.probes.edits import Traits, traits_of
from tests.ingestion.clips import Format, write_clip

CLIPS = ["c0", "c1", "c2", "c3"]
FACES = {"c0": 0.3, "c1": 0.45}


@pytest.fixture(scope="module")
def phase(tmp_path_factory: pytest.TempPathFactory) -> FilmedPhase:
    """Clips of which the third has no sound; the first two have a face."""
    root = tmp_path_factory.mktemp("cues")
    (root / "clips").mkdir()
    rows = []
    for number, clip in enumerate(CLIPS):
        form = Format(first=300 + 171 * number, audio=None if number == 2 else "aac")
        write_clip(root / "clips" / f"{clip}.mp4", 25, form)
        rows.append((clip, f"clips/{clip}.mp4", "0"))
    (root / "task.yaml").write_text("task: practice\nclips: clips.csv\nfaces: faces.csv\n")
    boxes = "".join(f"{clip},0.2,0.1,0.6,{0.1 + height}\n" for clip, height in FACES.items())
    (root / "faces.csv").write_text("clip_id,left,top,right,bottom\n" + boxes)
    return FilmedPhase("practice", root, root, rows, {})


def found_of(phase: FilmedPhase) -> dict[str, Vectors]:
    results: list[dict[str, Any]] = [
        {"clip_id": clip, "entry": {"first": {"file": file}}, "features": {"mouth": {}}}
        for clip, file, _ in phase.clips
    ]
    return {result["clip_id"]: result["features"] for result in add_cues(phase, results, 2)}


def test_each_cue_is_measured_where_it_can_be_edited(phase: FilmedPhase) -> None:
    found = found_of(phase)
    assert set(found["c0"]) == set(found["c1"]) == {"mouth", "lighting", "framing", "voice"}
    assert set(found["c2"]) == {"mouth", "lighting"}
    assert set(found["c3"]) == {"mouth", "lighting", "voice"}
    sizes = {len(vector) for clip in found.values() for cue in list(clip)[1:] for vector in clip[cue].values()}
    assert len(sizes) == 1
    assert found == found_of(phase)
    for clip in found.values():
        for cue in list(clip)[1:]:
            assert np.isfinite([*clip[cue].values()]).all()
            assert (CONTROL in clip[cue]) == (cue == "lighting")
            assert clip[cue][PLAIN] == clip["lighting"][PLAIN] != clip[cue][ALTERED]


def test_a_clip_that_keeps_its_original_or_cannot_be_read_has_none(phase: FilmedPhase, tmp_path: Path) -> None:
    kept: dict[str, Any] = {"clip_id": "c0", "entry": None, "features": {}}
    assert add_cues(phase, [kept], 1) == [kept]
    traits = {clip: traits_of_clip(phase, clip) for clip in CLIPS}
    assert cue_features("c0", tmp_path / "none.mp4", traits) == {}
    assert cue_features("c0", phase.inputs / "clips/c0.mp4", {"c0": traits["c0"]}) == {}


def traits_of_clip(phase: FilmedPhase, clip: str) -> Traits:
    return traits_of(ClipSource(clip, phase.inputs / f"clips/{clip}.mp4", ""), None)
