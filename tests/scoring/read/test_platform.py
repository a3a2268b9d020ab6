"""What the platform noted: a record that does not fit it is not believed, and addresses and keys are never shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from score.read.run import WorkerNotes, read_submission_metadata, read_worker_notes
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case, recorded
from tests.scoring.read.test_seal import KEY, keyed, sign

__all__ = ["keyed"]
# As Codabench 1.25 writes them, and CodaLab, version 1, for results.
ENDED = "elapsedTime: 31.2\nexitCode: {own}\ningestionElapsedTime: 31.2\ningestionExitCode: {ingestion}\n"
OLD = "elapsedTime: 0.02\nexitCode: 0\n"
RUBBISH = "ingestionElapsedTime: x\ningestionExitCode: x\n"
METADATA = """\
ref: https://store.example/reference.zip?signature=SECRET
res: https://store.example/results.zip?signature=SECRET
history: https://store.example/history.txt
submitted-by: ada.lovelace
submitted-at: 2026-11-22T09:30:00
competition-submission: 7
competition-phase: 2
automatic-submission: False
"""


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
        (noted(ingestion=1, text=ENDED + RUBBISH), "ingestion_failed"),
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


def test_the_page_shows_who_and_what_and_no_address(score: Score) -> None:
    outcome = score(make_case(), lambda root: (root / "metadata").write_text(METADATA))
    assert outcome.code == 0
    for shown in ("Submitted by", "ada.lovelace", "2026-11-22T09:30:00", "Moved from the phase before"):
        assert shown in outcome.page
    assert "SECRET" not in outcome.page + outcome.log
    assert "store.example" not in outcome.page + outcome.log


def test_without_it_nothing_is_shown(score: Score, tmp_path: Path) -> None:
    assert "Submitted by" not in score(make_case()).page
    assert read_submission_metadata(tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("submitted-by: <b>x</b>\ncompetition-phase: 1", [("Number of the phase", "1")]),
        ("competition-phase: 1e9\nsubmitted-at: tomorrow\nautomatic-submission: yes", []),
        ("competition-submission: 12 \r\ncompetition-phase:3\r\n", [
            ("Number of the submission", "12"), ("Number of the phase", "3"),
        ]),
        ("submitted-by: " + "a" * 151, []),
        ("{{{\x00", []),
    ],
)  # fmt: skip
def test_only_values_of_the_right_form_are_believed(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    (tmp_path / "metadata").write_bytes(text.encode())
    assert list(read_submission_metadata(tmp_path)) == expected


def test_a_link_and_a_giant_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(METADATA)
    (tmp_path / "metadata").symlink_to(tmp_path / "elsewhere")
    assert read_submission_metadata(tmp_path) == ()
    (tmp_path / "metadata").unlink()
    (tmp_path / "metadata").write_text(METADATA + "#" * 70_000)
    assert read_submission_metadata(tmp_path) == ()
