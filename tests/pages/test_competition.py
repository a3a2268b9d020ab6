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
            **({"hidden": True} if column.hidden else {}),
        }
        for index, column in enumerate(columns(read_settings(ROOT / "reference_data" / phase / "task.yaml")))
    ]
    assert board["columns"] == expected
    assert board["primary_index"] == 0


def test_final_hides_what_practice_shows() -> None:
    practice, final = COMPETITION["phases"]
    switches = ("hide_output", "hide_prediction_output", "hide_score_output")
    assert all(final[key] is True and key not in practice for key in switches)


def test_descriptions_of_tasks_name_no_number() -> None:
    # `bundle pages` writes pages, but not this file: a number of clips would grow stale in it.
    assert not [task["name"] for task in COMPETITION["tasks"] if any(map(str.isdigit, task["description"]))]


def test_logo_is_a_square_png_that_opens() -> None:
    with Image.open(ROOT / COMPETITION["image"]) as logo:
        logo.load()
        assert (logo.format, logo.mode, logo.size) == ("PNG", "RGBA", (512, 512))
