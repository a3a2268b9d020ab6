"""Settings of results that are of no use, and clips that nobody finds by the name of 2017."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.reading.tables import PhaseData
from bundle_tools.challenge.rules.phases import check_results
from bundle_tools.codabench.rules.dataset import DataFiles

SOUND: dict[str, Any] = {"results": True, "aliases": "aliases.csv", "target_aliases": {"coldness": "warmth"}}


@pytest.mark.parametrize(
    ("settings", "last", "codes"),
    [
        (SOUND, "c001,b.mp4\n", ["results-accepted"]),
        (SOUND, "", ["results-accepted", "results-names"]),
        ({**SOUND, "results": False}, "", ["results-idle"]),
        ({}, "", []),
    ],
)
def test_what_costs_something_is_told(tmp_path: Path, settings: dict[str, Any], last: str, codes: list[str]) -> None:
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(settings))
    (tmp_path / "aliases.csv").write_text(f"clip_id,name\nc000,-a.mp4\n{last}")
    side = PhaseData("input/", DataFiles(tmp_path), settings)
    assert [finding.code for finding in check_results(side, ["c000", "c001"])] == codes
