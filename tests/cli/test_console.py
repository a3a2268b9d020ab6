"""What a person sees: progress in one place on a terminal, files named from where one stands, and whole files."""

import io
from itertools import count
from pathlib import Path

import pytest

from bundle_tools.atomic import replaced
from bundle_tools.console import ONE_UP, Screen, progress_bar, say

LINES = (
    "[ingestion] model loaded\n",
    "[ingestion] first pass: 1 of 3 clips, 0.50 s each; about 0:01 to go\n",
    "[ingestion] first pass: 2 of 3 clips, 0.5 s each; about 0:00 to go\n",
    "[ingestion] first pass: 3 of 3 clips, 0.50 s each; 8:00 of the time budget left\n",
    "[ingestion] second pass: 1 of 9 calls, 0.5 s each; 8:00 left\n",
    "[ingestion] second pass: 9 of 9 calls, 0.50 s each; 8:00 left\n",
    "[ingestion] complete\n",
)


class Terminal(io.StringIO):
    """Takes text as a terminal does."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize(
    ("stream", "columns", "erased"), [(Terminal(), 100, 3), (Terminal(), 60, 5), (io.StringIO(), 60, 0)]
)
def test_each_pass_has_one_line_of_progress_on_a_terminal_alone(
    stream: io.StringIO, columns: int, erased: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = Screen()
    for line in LINES:
        screen.show(line, stream)
    printed = stream.getvalue()
    assert printed.count(ONE_UP) == erased  # rows: at 60 columns two of the lines take two
    assert printed.replace(ONE_UP, "") == "".join(LINES)


@pytest.mark.parametrize("before", [0, 100])
def test_long_work_says_how_long_it_will_still_take(
    before: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bundle_tools.console.time.monotonic", count(step=6).__next__)
    with progress_bar("training clips") as progress:
        for done in range(before + 1, before + 5):
            progress(done, 122 + before)
    assert capsys.readouterr().err.splitlines() == [
        f"training clips: {before + 2} of {122 + before}, about 12 min left",
        f"training clips: {before + 4} of {122 + before}, about 12 min left",
    ]


def test_files_below_the_current_folder_are_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    say(f"Report: {tmp_path / 'runs' / 'report.html'}; not {tmp_path.parent / 'other'}")
    assert capsys.readouterr().out == f"Report: runs/report.html; not {tmp_path.parent / 'other'}\n"
    monkeypatch.chdir("/")
    say("see /etc//hosts")
    assert capsys.readouterr().out == "see /etc//hosts\n"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replaced(path) as unfinished:
        unfinished.write_text("whole")
    with pytest.raises(KeyboardInterrupt), replaced(path) as unfinished:
        unfinished.write_text("ha")
        raise KeyboardInterrupt
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]
