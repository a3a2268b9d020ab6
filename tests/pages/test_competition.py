"""competition.yaml: what it names exists, and what it repeats agrees with its source."""

from typing import Any

import pytest
import yaml
from PIL import Image

from score.columns import columns
from score.settings import read_settings
from tests import ROOT

COMPETITION: dict[str, Any] = yaml.safe_load((ROOT / "competition.yaml").read_text("utf-8"))
PHASES = ("practice", "final")


def test_named_files_exist() -> None:
    named = [COMPETITION["image"], COMPETITION["terms"], *(page["file"] for page in COMPETITION["pages"])]
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_named_folders_exist_and_end_in_a_slash() -> None:
    keys = (
        "input_data",
        "reference_data",
        "ingestion_program",
        "scoring_program",
        "starting_kit",
        "public_data",
        "path",
    )
    entries = [*COMPETITION["tasks"], *COMPETITION["phases"], *COMPETITION["solutions"]]
    named = [entry[key] for entry in entries for key in keys if key in entry]
    assert len(named) == 14
    assert [name for name in named if not name.endswith("/") or not (ROOT / name).is_dir()] == []


@pytest.mark.parametrize("phase", PHASES)
def test_leaderboard_is_the_registry(phase: str) -> None:
    board = COMPETITION["leaderboards"][0]
    expected = [
        {
            "index": index,
            "key": column.key,
            "title": column.title,
            "sorting": column.direction,
            "precision": column.decimals,
            **({"hidden": True} if column.of_people else {}),
        }
        for index, column in enumerate(columns(read_settings(ROOT / "reference_data" / phase / "task.yaml")))
    ]
    assert board["columns"] == expected
    assert board["primary_index"] == 0


@pytest.mark.parametrize(("phase", "index"), [("practice", 0), ("final", 1)])
def test_time_limit_is_the_one_that_ingestion_keeps(phase: str, index: int) -> None:
    task = yaml.safe_load((ROOT / "input_data" / phase / "task.yaml").read_text("utf-8"))
    assert COMPETITION["phases"][index]["execution_time_limit"] == task["limits"]["time_limit_s"]


def test_final_hides_what_practice_shows() -> None:
    practice, final = COMPETITION["phases"]
    switches = ("hide_output", "hide_prediction_output", "hide_score_output")
    assert all(final[key] is True and key not in practice for key in switches)


def test_descriptions_of_tasks_name_no_number() -> None:
    # `bundle pages` fills in pages and guides, but not this file: a number of clips would grow stale in it.
    assert not [task["name"] for task in COMPETITION["tasks"] if any(map(str.isdigit, task["description"]))]


def test_dates_are_texts_in_order() -> None:
    # Codabench drops the time of day of an unquoted date; equal end and start of two phases are refused.
    dates = [phase[key] for phase in COMPETITION["phases"] for key in ("start", "end")]
    assert all(isinstance(date, str) and len(date) == len("2026-12-01 12:00:00") for date in dates)
    assert dates == sorted(set(dates))


def test_logo_is_a_square_png_that_opens() -> None:
    with Image.open(ROOT / COMPETITION["image"]) as logo:
        logo.load()
        assert (logo.format, logo.mode, logo.size) == ("PNG", "RGBA", (512, 512))
