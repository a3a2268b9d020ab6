"""What the worker noted about the prediction step: a record that does not fit it is not believed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from score.read.output.platform import WorkerNotes, read_worker_notes
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case, recorded
from tests.scoring.read.test_seal import KEY, keyed, sign

__all__ = ["keyed"]
# As Codabench 1.25 writes them, and CodaLab, version 1, for results.
ENDED = "elapsedTime: 31.2\nexitCode: {own}\ningestionElapsedTime: 31.2\ningestionExitCode: {ingestion}\n"
OLD = "elapsedTime: 0.02\nexitCode: 0\n"


def noted(own: object = "null", ingestion: object = 0, *, text: str = ENDED) -> Callable[[Path], object]:
    return lambda root: (root / "res" / "metadata").write_text(text.format(own=own, ingestion=ingestion))


@pytest.mark.parametrize(
    "spoil",
    [noted(), noted(ingestion=75), noted(text=OLD), noted(text="exitCode: 1\n"), noted(text="rubbish"), lambda _: None],
    ids=["ended well", "ended by its watchdog", "CodaLab", "of another form", "rubbish", "no notes"],
)
def test_a_record_that_fits_is_scored(keyed: Path, score: Score, spoil: Callable[[Path], object]) -> None:
    done = score(make_case(), lambda root: (sign(KEY)(root), spoil(root)))
    assert done.code == 0, done.log


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (noted(own=0), "own_command_ran"),
        (noted(own=1), "own_command_ran"),
        (noted(own=0, ingestion=1), "own_command_ran"),
        (noted(ingestion=1), "ingestion_failed"),
        (noted(ingestion=-9), "ingestion_failed"),
        (noted(ingestion="null"), "ingestion_failed"),
    ],
)
def test_a_forged_record_is_not_scored_though_its_seal_is_right(
    keyed: Path, score: Score, spoil: Callable[[Path], object], code: str
) -> None:
    done = score(make_case(), lambda root: (sign(KEY)(root), spoil(root)))
    assert done.code == 1
    assert not (done.out / "scores.json").exists()
    assert code in done.log
    assert code in done.page


def test_results_that_nobody_ran_are_scored_where_nothing_is_sealed(score: Score) -> None:
    assert score(make_case(), noted(ingestion="null")).code == 0


def test_an_invalid_run_says_why_itself(score: Score) -> None:
    case = make_case()
    case.run = {"status": "invalid", "problems": [recorded("metadata_present", "load")]}
    done = score(case, noted(own=0, ingestion=1))
    assert (done.code, "metadata_present" in done.log, "own_command_ran" in done.log) == (1, True, False)


def test_what_the_report_shows_of_them(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text(ENDED.format(own="null", ingestion=0))
    notes = read_worker_notes(tmp_path)
    assert notes.facts == (("Ingestion, by the worker's clock (s)", "31.2"), ("Ingestion's exit code", "0"))
    assert read_worker_notes(tmp_path / "nowhere") == WorkerNotes()
