"""The score means something: submissions whose honesty is known come out in the right order, in the real programs."""

import importlib
import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from file_clip import FileClip
from ingest.answers import check_explanation, check_prediction
from ingest.settings import read_task
from tests import ROOT, there
from tests.fewer import copy_with
from tests.meaning.cache import digest, once
from tests.meaning.entrants import ENTRANTS, SOLUTION, Entrant, write_submission
from tests.meaning.recorded import HONEST
from tests.meaning.runs import run
from tests.meaning.sets import PRACTICE, ClipSet
from tests.meaning.table import COLUMNS, PAGE, SECTION, TEMPLATE, figures_of, fill, filmed_text, read_table

CLIPS = 8
CHANCE = 0.35
"""What so few clips may give to somebody who knows nothing."""
FEW = {"_SAMPLES": 4, "_SAMPLES_IN_TIME": 4, "_STEP": (3, 4), "_BLOCKS": (2, 2)}
"""How often the methods that ask about altered copies ask here."""
LUCK = 2.0
"""Points that two submissions may differ by for no reason."""


@pytest.fixture(scope="module")
def clips() -> Iterator[list[Any]]:
    """Two clips of the sample, which are read once for all submissions."""
    sys.path.insert(0, str(SOLUTION))
    try:
        features = importlib.import_module("cuereader.features")
    finally:
        sys.path.remove(str(SOLUTION))
    paths = sorted((ROOT / "public_data" / "clips").iterdir())[:2]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(features, "read_clip", lru_cache(features.read_clip))
        yield [FileClip(path, f"That was a wonderful {path.stem} and a dull day.") for path in paths]


@pytest.mark.usefixtures("imports_undone")
@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda entrant: entrant.key)
def test_every_entrant_is_a_valid_submission(entrant: Entrant, clips: list[Any], tmp_path: Path) -> None:
    folder = write_submission(entrant, tmp_path / "submission")
    sys.path.insert(0, str(folder))
    task = read_task(ROOT / "input_data" / PRACTICE / "task.yaml")
    model = importlib.import_module("model").Model(folder)
    asking = entrant.key in ("lime", "occlusion", "blur_freeze")
    if asking:
        vars(sys.modules["account.maps"]).update(FEW)
    for clip in clips[:1] if asking else clips:
        prediction, problems = check_prediction(model.predict(clip), task.targets)
        assert prediction is not None
        explanation, more = check_explanation(
            model.explain(clip, prediction), task.explanation, task.targets, clip.duration_s
        )
        assert explanation.text is not None
        assert [problem.code for problem in problems + more] == (
            ["evidence_invalid"] * 2 if entrant.key == "uniform" else []
        )


@pytest.mark.slow
def test_a_lie_gains_nothing_and_scores_what_the_page_states(tmp_path: Path) -> None:
    """The one that used to win; what the others score is on the page, and on the simulated runs of test_axes.py."""
    stated = read_table(PAGE.read_text(encoding="utf-8"))
    assert stated.keys() == {entrant.key for entrant in ENTRANTS}
    (liar,) = (entrant for entrant in ENTRANTS if entrant.key == "gate_and_lot")
    few = copy_with(ROOT, tmp_path / "few", CLIPS, "input_data", "reference_data")
    clips = ClipSet(PRACTICE, few / "input_data" / PRACTICE, few / "reference_data" / PRACTICE)
    scores = run(liar, clips, tmp_path)
    assert scores["coverage"] == 1
    assert scores["faithfulness_time"] <= CHANCE
    assert scores["explanation"] < min(stated[HONEST], honest_total()) - LUCK
    assert scores["explanation"] == pytest.approx(stated[liar.key], abs=20)  # the page's is of more clips


def honest_total() -> float:
    """Return what the solution itself scores on these clips, as the bundle states it."""
    stated = json.loads((ROOT / "reference_data" / PRACTICE / "landmarks.json").read_text(encoding="utf-8"))
    (own,) = (one for one in stated["landmarks"] if one["key"] == SOLUTION.name)
    return float(own["columns"]["explanation"])


def test_the_page_gives_means_and_differences_on_the_same_clips() -> None:
    scores = {
        entrant.key: [dict.fromkeys(COLUMNS, 0.5) | {"explanation": 10.0 * luck + number} for luck in (1, 3)]
        for number, entrant in enumerate(ENTRANTS)
    }
    filmed = filmed_text({ENTRANTS[0].title: dict.fromkeys(COLUMNS, 0.25)})
    counts = {f"filmed.{name}": "1" for name in ("clips", "people", "statistics")}
    figures = figures_of(scores, ["practice", "s11"]) | counts | {"filmed.table": filmed}
    page = fill(TEMPLATE.read_text(encoding="utf-8"), figures)
    assert there(SECTION.search(page))[0].count("|honest|0.25|0.25|0.25|0.25|0.2|") == 1
    assert read_table(page) == {entrant.key: 20.0 + number for number, entrant in enumerate(ENTRANTS)}
    noise = next(line for line in page.splitlines() if line.startswith("|noise of 0.5 SD|"))
    assert noise.endswith("|0.50|0.50|**21.0**|+1.0|+1.0|+1.0|")
    assert "gets 10.0 and 30.0" in page
    # Here noise costs nothing, and totals rise.
    assert "More noise lowers space in 0, time in 0, claims in 0, causes in 0 and total in 0 of 6 comparisons." in page
    assert figures_of(scores, ["practice", "s11"])["noise_1.behind"] == "+2.0"
    with pytest.raises(KeyError):
        fill("{nobody.total}", figures_of(scores, ["practice", "s11"]))


def test_folders_are_made_once_and_whole_or_not_at_all(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        once(tmp_path / "a", fail)
    assert list(tmp_path.iterdir()) == []
    assert once(tmp_path / "a", lambda folder: (folder / "whole").touch()) == once(tmp_path / "a", fail)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["whole"]


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    for name, content in {"a/x": "1", "b/x": "1", "c/x": "2", "d/y": "1", "b/__pycache__/x": "3"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    same, other_content, other_name = (digest(tmp_path / name) for name in "bcd")
    assert digest(tmp_path / "a") == same
    assert len({same, other_content, other_name}) == 3
