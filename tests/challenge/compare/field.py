"""Several runs of one phase, for what compares them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from tests import ROOT
from tests.scoring.factory import Case, make_case, make_input
from tests.tiny import write_files

CLIPS = 24
COMPETITION = """\
tasks: [{index: 0, name: Practice, scoring_program: scoring_program, reference_data: reference}]
phases: [{index: 0, name: Practice, tasks: [0]}]
leaderboards: [{columns: [{index: 0, key: explanation, title: Explanation score}]}]
"""


def write_field(root: Path, runs: dict[str, Case]) -> Path:
    """Write a bundle of one phase, and runs of it."""
    for name, case in runs.items():
        make_input(root / name, case)
        shutil.move(root / name / "res", root / name / "ingestion_output")
        shutil.rmtree(root / "reference", ignore_errors=True)
        shutil.move(root / name / "ref", root / "reference")
    write_files(root, {"competition.yaml": COMPETITION})
    (root / "scoring_program").symlink_to(ROOT / "scoring_program")
    return root


def noisy(share: float, **settings: Any) -> Case:  # noqa: ANN401 - any settings key
    """The same labels, predicted worse."""
    case = make_case(clips=CLIPS, **settings)
    rng = np.random.default_rng(5)
    case.prediction = np.clip(case.prediction + rng.normal(0, share, case.prediction.shape), 0, 1)
    return case
