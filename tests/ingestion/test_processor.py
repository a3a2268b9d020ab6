"""A run that had to wait for others is told from one that was slow by itself."""

import os
import threading
import time
from pathlib import Path

import pytest

from ingest.capacity import Meter, Processor, blame, is_busy, waited_s
from ingest.errors import Problem
from tests.ingestion.conftest import follows, model_source, run_program


def problem(code: str) -> Problem:
    return Problem(
        code, "run", "altered copies", "too little time", "time", "make the model faster", severity="warning"
    )


SHORT = [problem("answers_differ"), problem("probes_not_reached")]
BUSY = Processor(model_s=20.0, ingestion_s=10.0, waited_s=60.0, busy=True)


@pytest.mark.parametrize(
    ("used_s", "waiting_s", "elapsed_s", "cores", "busy"),
    [
        (60, 40, 100, 2, True),  # others have nearly a core and a half
        (60, 24, 100, 2, False),  # a machine that is busy now and then
        (160, 60, 100, 2, False),  # its own threads wait for each other
        (90, 60, 100, 1, False),
        (5, 0, 100, 2, False),  # a model that sleeps
        (5, 95, 100, 16, True),
    ],
)
def test_who_waits_for_others_is_told(
    used_s: float, waiting_s: float, elapsed_s: float, cores: int, *, busy: bool
) -> None:
    assert is_busy(used_s, waiting_s, elapsed_s, cores) is busy


def test_a_lack_of_time_on_a_busy_machine_is_the_machines() -> None:
    told, other, short = blame(SHORT, BUSY, 100.0, timeouts=False)
    assert (told.code, told.fault, told.severity) == ("machine_busy", "organiser", "warning")
    assert "60 of 100 s" in told.found
    assert other == SHORT[0]
    assert (short.fault, short.fix) == ("organiser", told.fix)


@pytest.mark.parametrize("timeouts", [True, False])
def test_a_busy_machine_is_named_only_where_time_was_short(*, timeouts: bool) -> None:
    assert [told.code for told in blame([], BUSY, 100.0, timeouts=timeouts)] == ["machine_busy"] * timeouts


def test_a_quiet_machine_is_blamed_for_nothing() -> None:
    quiet = Processor(model_s=20.0, ingestion_s=10.0, waited_s=1.0, busy=False)
    assert blame(SHORT, quiet, 100.0, timeouts=True) == SHORT


def test_work_is_counted_and_sleep_is_not() -> None:
    meter = Meter()
    time.sleep(0.05)
    asleep = meter.read(0.05, 0.0)
    sum(range(3_000_000))
    assert meter.read(0.2, 0.0).ingestion_s > asleep.ingestion_s + 0.02
    assert asleep.ingestion_s < 0.04
    assert meter.read(1.0, 0.75).busy is (waited_s(os.getpid()) is not None)


@pytest.mark.skipif(waited_s(os.getpid()) is None, reason="this system does not tell who stands in line")
def test_standing_in_line_is_seen() -> None:
    before = waited_s(os.getpid())
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # this thread and the next one share a core
    try:
        done = threading.Event()
        other = threading.Thread(target=lambda: [sum(range(1000)) for _ in iter(done.is_set, True)], daemon=True)
        other.start()
        sum(range(5_000_000))
        done.set()
        other.join()
    finally:
        os.sched_setaffinity(0, cores)
    after = waited_s(os.getpid())
    assert before is not None
    assert after is not None
    assert after > before


def test_a_run_records_what_it_used(phase: Path, tmp_path: Path) -> None:
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "model.py").write_text(model_source(predict="sum(range(2_000_000))"))
    run = run_program(phase, tmp_path / "submission", tmp_path / "output").json("run.json")
    follows("run.json")(run)
    used = run["processor"]
    assert used["model_s"] > 0.05
    assert used["ingestion_s"] > 0
    assert used["busy"] in {True, False}
