"""A small phase with clips, and runs over it."""

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests import ROOT
from tests.ingestion.clips import Format, write_clip
from tests.scoring.factory import Case, full_explanation, make_case, make_input

PHASE = "final"
CLIPS = 24
HOSTILE = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2"> scored 0.51 \u202e</blockquote>'


def case_of(name: str) -> Case:
    """Give each team predictions and explanations of its own, for the same clips and labels."""
    case = make_case(clips=CLIPS, task=PHASE)
    shift = {"honest-team": 0.0, "other-team": 0.04, "silent-team": -0.03}[name]
    case.prediction = np.clip(case.prediction + shift, 0, 1)

    def explain(clip_id: str) -> dict[str, Any] | None:
        if name == "silent-team" and case.clip_ids.index(clip_id) % 2:
            return None
        said = full_explanation(clip_id)
        if name == "honest-team":
            return said
        return said | {"text": f"{said['text']} {HOSTILE} In the words of {clip_id[:3]}: see above.", "image": None}

    case.explain = explain
    return case


def make_bundle(folder: Path, case: Case | None = None, videos: Sequence[Path] = ()) -> Path:
    """Write a bundle with one phase: the real scoring program, made labels, and tiny clips unless others are given."""
    case = case or case_of("honest-team")
    made = make_input(folder / "made", case)
    shutil.move(made / "ref", folder / "reference_data" / PHASE)
    clips = folder / "input_data" / PHASE / "clips"
    clips.mkdir(parents=True)
    (clips.parent / "task.yaml").write_text("clips: clips.csv\n")
    given = videos or (write_clip(folder / "plain.mp4", 12, Format(width=64, height=48)),)
    with (clips.parent / "clips.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["clip_id", "file", "sha256"])
        for number, clip_id in enumerate(case.clip_ids):
            shutil.copy(given[number % len(given)], clips / f"{clip_id}.mp4")
            table.writerow([clip_id, f"clips/{clip_id}.mp4", ""])
    (folder / "scoring_program").symlink_to(ROOT / "scoring_program")
    task = {
        "index": 0,
        "name": "Final",
        "input_data": f"input_data/{PHASE}/",
        "reference_data": f"reference_data/{PHASE}/",
        "scoring_program": "scoring_program/",
    }
    content = {
        "tasks": [task],
        "phases": [{"index": 0, "name": "Final", "tasks": [0]}],
        "leaderboards": [{"columns": [{"index": 0, "key": "explanation", "title": "Explanation score"}]}],
    }
    (folder / "competition.yaml").write_text(yaml.safe_dump(content), "utf-8")
    return folder


def make_run(folder: Path, bundle: Path, name: str, case: Case | None = None) -> Path:
    """Write what ingestion leaves of one team's run."""
    made = make_input(folder / "made", case or case_of(name))
    shutil.move(made / "res", folder / "ingestion_output")
    assert (bundle / "reference_data" / PHASE / "labels.csv").read_bytes() == (made / "ref" / "labels.csv").read_bytes()
    return folder
