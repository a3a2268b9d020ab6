"""Progress: a line now and then, with the time that is left, whatever the number of clips; flushes now and then."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ingest import log as log_module
from ingest.clock import Clock
from ingest.log import PROGRESS_EVERY_S, PROGRESS_LINES, Log, Progress
from ingest.record_writer import RecordWriter

TITLE = "[ingestion] first pass: "


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, total: int, seconds_each: float) -> list[str]:
    """Return the lines of a pass in which every clip takes so long."""
    now = [0.0]
    monkeypatch.setattr(log_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clock, log = Clock(), Log(folder / "log.txt")
    progress = Progress(log, clock, "first pass", "clips", total)
    for done in range(1, total + 1):
        now[0] += seconds_each
        progress.update(done)
    log.close()
    return (folder / "log.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("total", "seconds_each", "lines"),
    [(24, 0.4, 1), (24, 1.0, 3), (24, 10.0, 24), (1, 5.0, 1), (10_000, 1.0, PROGRESS_LINES)],
)
def test_a_line_comes_every_ten_seconds_and_never_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total: int, seconds_each: float, lines: int
) -> None:
    found = told(tmp_path, monkeypatch, total, seconds_each)
    assert len(found) == lines
    assert found[-1].startswith(f"{TITLE}{total} of {total} clips, {seconds_each:.2f} s each; ")
    assert all("to go" in line for line in found[:-1])


def test_the_time_that_is_left_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = told(tmp_path, monkeypatch, 100, 6.0)
    assert first.startswith(f"{TITLE}2 of 100 clips, 6.00 s each; about 9:48 to go, ")


def test_somebody_who_looks_gets_more_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROGRESS_EVERY_S, "1")
    assert len(told(tmp_path, monkeypatch, 24, 0.5)) == 12


def test_quick_calls_are_flushed_to_disk_together_and_slow_ones_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, flushed = [100.0], list[int]()
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("os.fsync", flushed.append)
    results = RecordWriter(tmp_path, ())
    for step_s, most in ((0.001, 1), (1.5, 50)):
        flushed.clear()
        for number in range(50):
            now[0] += step_s
            results.add_probe({"number": number})
        assert len(flushed) == most
    assert len((tmp_path / "probes.jsonl").read_text().splitlines()) == 100
