"""What CodaLab's first version tells of a submission is shown; the addresses and keys beside it never are."""

from pathlib import Path

import pytest

from score.read.output.platform import read_submission_metadata
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case

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
