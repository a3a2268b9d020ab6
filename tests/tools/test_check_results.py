"""Break the settings of results in one way at a time."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.rules.clips.results import check_results
from bundle_tools.challenge.rules.clips.side import Side
from bundle_tools.codabench.rules.dataset import Dataset
from ingest.errors import IngestionError
from ingest.results.names import older_names
from tests.ingestion.conftest import SETTINGS

CLIPS = ["c000", "c001"]
SOUND: dict[str, Any] = {
    **SETTINGS, "results": True, "aliases": "aliases.csv", "target_aliases": {"coldness": "warmth"},
}  # fmt: skip
TABLE = "clip_id,name\nc000,-a.mp4\nc001,b.mp4\n"


def codes(folder: Path, settings: dict[str, Any], table: str | None = TABLE) -> list[str]:
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    if table is not None:
        (folder / "aliases.csv").write_text(table)
    side = Side("input data", "input/", Dataset(folder), settings)
    return [finding.code for finding in check_results(side, CLIPS)]


def test_a_sound_phase_has_only_the_note(tmp_path: Path) -> None:
    assert codes(tmp_path, SOUND) == ["results-accepted"]
    assert codes(tmp_path, SETTINGS) == []


MISTAKES: list[str | None] = [
    None,
    "",
    "name,clip_id\na.mp4,c000\n",
    TABLE + "c009,c.mp4\n",
    "clip_id,name\nc000,a.mp4\nc001,a.mp4\n",
    "clip_id,name\nc000,a.mp4\nc000,b.mp4\n",
    "clip_id,name\nc000\n",
]


@pytest.mark.parametrize("table", MISTAKES)
def test_every_mistake_is_found_by_the_checker_and_by_ingestion(table: str | None, tmp_path: Path) -> None:
    assert "results-aliases" in codes(tmp_path, SOUND, table)
    with pytest.raises(IngestionError):
        older_names(tmp_path / "aliases.csv", CLIPS)


def test_what_costs_nothing_is_a_warning(tmp_path: Path) -> None:
    assert codes(tmp_path, {**SOUND, "results": False}) == ["results-idle"]
    assert codes(tmp_path, SOUND, "clip_id,name\nc000,a.mp4\n") == ["results-accepted", "results-names"]
