"""A run that had to wait for others is told from one that was slow by itself."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ingest import capacity
from ingest.capacity import CoreUse, Meter, Processor, blame, waited_s
from ingest.clock import Clock
from ingest.errors import Problem
from ingest.keeper import KeyKeeper
from ingest.log import Log
from ingest.pipeline import _Run
from ingest.record import hold_room, open_private
from ingest.stats import ProbeCount, RunStats
from tests.ingestion.conftest import follows, model_source, run_program


def problem(code: str) -> Problem:
    return Problem(
        code, "run", "perturbed copies", "too little time", "time", "make the model faster", severity="warning"
    )


SHORT = [problem("answers_differ"), problem("probes_not_reached")]
BUSY = Processor(model_s=20.0, ingestion_s=10.0, waited_s=60.0, busy=True)


def use(at_s: float, all_s: float, own_s: float, *waited: float) -> CoreUse:
    return CoreUse(at_s, all_s, own_s, dict(enumerate(waited, 1)))


START = use(0, 1000, 10, 0, 0)


@pytest.mark.parametrize(
    ("later", "cores", "expected"),
    [
        (use(10, 1020, 16, 1, 4), 2, 5.0),  # others have nearly a core and a half
        (use(10, 1019, 26, 1, 7), 2, 0.0),  # 24 threads of its own wait for each other, and then all sleep
        (use(10, 1020, 21, 1, 7), 2, 0.0),  # most of the work is its own
        (use(10, 1005, 15, 0, 0), 2, 0.0),  # a model that sleeps
        (use(10, 1160, 11, 0, 9), 16, 9.0),
        (use(10, 1020, 16, 1, 4, 6), 2, 7.0),  # two models side by side wait at the same time
    ],
)
def test_waiting_counts_while_others_use_the_cores(later: CoreUse, cores: int, expected: float) -> None:
    assert START.waited_for_others(later, cores) == expected


def test_waiting_is_judged_period_by_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others that worked at another time have not delayed a run."""
    readings = [START, use(10, 1020, 10, 0, 0), use(20, 1040, 30, 0, 6), use(30, 1060, 30, 0, 6)]
    monkeypatch.setattr(CoreUse, "now", lambda: readings.pop(0))
    monkeypatch.setattr(capacity, "cores", lambda: 2)
    monkeypatch.setattr(capacity, "PERIOD_S", 1000)
    meter = Meter()
    used = [meter.read(at_s) for at_s in (10, 20, 30)]
    assert [one.waited_s for one in used] == [0.0] * 3
    assert not any(one.busy for one in used)
    readings += [use(40, 1080, 31, 1, 16)]
    assert meter.read(40).waited_s == 11.0
    readings += [use(41, 1081, 32, 1, 16)]
    assert meter.read(41).busy
    # A machine without memory is slow, too, and no other program's fault.
    monkeypatch.setattr(capacity, "memory_kills", lambda: meter._kills + 2)
    readings += [use(42, 1082, 33, 1, 16)]
    used_up = meter.read(42)
    assert (used_up.busy, used_up.memory_kills) == (False, 2)


@pytest.mark.parametrize(("quota", "expected"), [(None, 4), (2, 2), (9, 4)])
def test_a_quota_bounds_the_cores(monkeypatch: pytest.MonkeyPatch, quota: int | None, expected: int) -> None:
    monkeypatch.setattr(capacity, "limits", lambda: {"cores": quota})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert capacity.cores() == expected


@pytest.mark.skipif(CoreUse.now() is None, reason="this system does not tell who uses the cores")
def test_what_descendants_use_is_the_runs_own() -> None:
    """Processes of processes, too, with all their threads, as long as they live and when they have ended."""
    work = "import threading, time\ndef spin():\n while time.process_time() < 1: pass\n"
    work += (
        "each = [threading.Thread(target=spin) for _ in range(8)]; [t.start() for t in each]; [t.join() for t in each]"
    )
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); sys.stdin.read()"
    before = CoreUse.now()
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as child:
        deadline = time.monotonic() + 60
        meanwhile = before
        while meanwhile and before and meanwhile.own_s <= before.own_s + 0.1 and time.monotonic() < deadline:
            time.sleep(0.05)
            meanwhile = CoreUse.now()
    after = CoreUse.now()
    assert before is not None
    assert meanwhile is not None
    assert after is not None
    assert child.pid in meanwhile.waited_s
    assert len(meanwhile.waited_s) == len(before.waited_s) + 2
    assert before.own_s < meanwhile.own_s - 0.1
    assert meanwhile.own_s < after.own_s
    assert after.own_s - before.own_s <= after.all_s - before.all_s + 0.5


def test_a_lack_of_time_on_a_busy_machine_is_the_machines() -> None:
    told, other, short = blame(SHORT, BUSY, 100.0, timeouts=False, budget_s=100.0)
    assert (told.code, told.fault, told.severity) == ("machine_busy", "organiser", "warning")
    assert "60 of 100 s" in told.found
    assert other == SHORT[0]
    assert (short.fault, short.fix) == ("organiser", told.fix)


@pytest.mark.parametrize("timeouts", [True, False])
def test_a_busy_machine_is_named_only_where_time_was_short(*, timeouts: bool) -> None:
    assert [told.code for told in blame([], BUSY, 100.0, timeouts=timeouts, budget_s=100.0)] == [
        "machine_busy"
    ] * timeouts


def test_a_quiet_machine_is_blamed_for_nothing() -> None:
    quiet = Processor(model_s=20.0, ingestion_s=10.0, waited_s=1.0, busy=False)
    assert blame(SHORT, quiet, 100.0, timeouts=True, budget_s=100.0) == SHORT


@pytest.mark.parametrize(("share", "own"), [(1.0, False), (0.11, False), (0.09, True), (0.0, False)])
def test_a_model_that_is_too_slow_for_a_free_machine_is_not_excused(
    monkeypatch: pytest.MonkeyPatch, share: float, *, own: bool
) -> None:
    """20 s of its own processor time for a tenth of the calls: 200 s for all, as much as two cores have in 100 s."""
    monkeypatch.setattr(capacity, "cores", lambda: 2)
    answer = blame(SHORT, BUSY, 100.0, timeouts=True, share=share, budget_s=100.0)
    assert (answer == SHORT) == own


@pytest.mark.parametrize(("asked", "budget_s", "own"), [(15, 100, False), (4, 100, True), (15, 40, True)])
def test_the_record_judges_by_the_runs_own_share_and_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: int, budget_s: float, *, own: bool
) -> None:
    """20 s of processor time for 20 or 9 % of the calls, on two cores."""
    monkeypatch.setattr(capacity, "cores", lambda: 2)
    folder = open_private(tmp_path)
    meter, keeper, clock = Meter(), KeyKeeper.__new__(KeyKeeper), Clock()
    monkeypatch.setattr(meter, "read", lambda _: BUSY)
    keeper.keyed, clock.budget_s = False, budget_s
    stats = RunStats(problems=SHORT, total=10, probes=ProbeCount(planned=90, asked=asked))
    stats.clips.update({"ok": 5, "not_reached": 5})
    log = Log(folder / "log.txt")
    _Run(tmp_path, tmp_path, folder, clock, keeper, log, hold_room(folder), stats, meter).seal()
    problems = json.loads((tmp_path / "run.json").read_text())["problems"]
    assert (problems[0]["code"] != "machine_busy") == own


def test_the_share_of_calls_counts_clips_and_altered_copies() -> None:
    stats = RunStats(total=10, probes=ProbeCount(planned=90, asked=15))
    stats.clips.update({"ok": 4, "failed": 1, "not_reached": 5})
    assert stats.share == 0.2
    assert RunStats().share == 1


def test_work_is_counted_and_sleep_is_not() -> None:
    meter = Meter()
    time.sleep(0.05)
    asleep = meter.read(0.05)
    sum(range(3_000_000))
    assert meter.read(0.2).ingestion_s > asleep.ingestion_s + 0.02
    assert asleep.ingestion_s < 0.04


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
