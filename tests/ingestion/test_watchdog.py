"""Should the run itself stand still, what is complete is sealed in time."""

import json
from pathlib import Path
from queue import Queue

import pytest

from ingest.limits import TEMPORARY_FAILURE, RunDeadline
from tests.ingestion.conftest import PROGRAM, SETTINGS, model_source, run_script, write_phase

# Ingestion with one of its own functions replaced: the third clip's decoding never ends.
STANDS_STILL = """\
import sys, threading, time
from pathlib import Path
sys.path.insert(0, {program!r})
import ingest.{module}
from ingest import limits
from ingest.clock import Clock
from ingest.keeper import KeyKeeper
from ingest.pipeline import run

patched = ingest.{module}
original, calls, reached = patched.{function}, [], threading.Event()

class Sooner(threading.Event):
    def wait(self, timeout):
        assert timeout > 60
        reached.wait()
        return self.is_set()

if {sooner}:  # what would take most of the limit
    limits.Event = Sooner

def stands_still(*arguments, **named):
    calls.append(1)
    if len(calls) > {after} and threading.current_thread() is threading.main_thread():
        reached.set()
        time.sleep(600)
    return original(*arguments, **named)

patched.{function} = stands_still
folders = {{name: Path(path) for name, path in {folders!r}.items()}}
folders["output"].mkdir()
sys.exit(run(**folders, packages=None, clock=Clock(), keeper=KeyKeeper(folders["program"])))
"""


def stand_still(
    tmp_path: Path, clip: Path, module: str, function: str, after: int, limit_s: float = 120
) -> tuple[int, Path, str]:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": limit_s}}
    phase = write_phase(tmp_path / "input", [clip] * 5, settings)
    submission, output = tmp_path / "submission", tmp_path / "output"
    submission.mkdir()
    (submission / "model.py").write_text(model_source())
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "seal.key").write_text("ab" * 32)
    folders = {"input_data": phase, "output": output, "program": tmp_path / "program", "submission": submission}
    script = STANDS_STILL.format(
        program=str(PROGRAM), module=module, function=function, after=after, sooner=limit_s > 60,
        folders={name: str(path) for name, path in folders.items()},
    )  # fmt: skip
    code, printed = run_script(tmp_path, script)
    return code, output, printed


@pytest.mark.parametrize(("limit_s", "elapsed_s", "wait_s"), [(600, 5, 585), (40, 5, 33), (8, 9, 0)])
def test_it_waits_until_ten_seconds_are_left_or_a_twentieth(
    limit_s: float, elapsed_s: float, wait_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: Queue[float] = Queue()
    dog = RunDeadline(lambda: True)
    monkeypatch.setattr(dog._stood_down, "wait", lambda seconds: waited.put(seconds) or True)  # type: ignore[func-returns-value]
    dog.start(limit_s, elapsed_s)
    assert waited.get() == pytest.approx(wait_s)


# Two clips are two readings, since the warm-up shows the first; two clips are two records each.
@pytest.mark.parametrize(
    ("module", "function", "after"), [("media.alteration", "read_facts", 2), ("record_writer", "_json_line", 4)]
)
def test_what_is_complete_is_sealed_and_the_rest_not_reached(
    module: str, function: str, after: int, numbered_clip: Path, tmp_path: Path
) -> None:
    code, output, printed = stand_still(tmp_path, numbered_clip, module, function, after)
    assert code == TEMPORARY_FAILURE, printed
    run = json.loads((output / "run.json").read_text())
    assert run["status"] == "partial"
    (problem,) = run["problems"]
    assert (problem["code"], problem["fault"]) == ("watchdog", "organiser")
    assert run["clips"] == {"total": 5, "ok": 2, "failed": 0, "not_reached": 3, "unreadable": 0}
    lines = [json.loads(line) for line in (output / "clips.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines] == ["ok", "ok", "not_reached", "not_reached", "not_reached"]
    manifest = json.loads((output / "manifest.json").read_text())
    assert manifest["seal"]
    assert {"run.json", "clips.jsonl", "predictions.csv", "log.txt"} <= manifest["files"].keys()
    assert "watchdog" in (output / "log.txt").read_text()


def test_before_the_first_clip_it_is_the_organisers_affair(numbered_clip: Path, tmp_path: Path) -> None:
    # Here, and only here, time does run out.
    code, output, printed = stand_still(tmp_path, numbered_clip, "pipeline", "read_dataset", 0, limit_s=2)
    assert code == TEMPORARY_FAILURE, printed
    assert json.loads((output / "run.json").read_text())["status"] == "organiser_error"
    assert (output / "manifest.json").is_file()


def test_a_second_look_that_stands_still_costs_nothing(numbered_clip: Path, tmp_path: Path) -> None:
    code, output, printed = stand_still(tmp_path, numbered_clip, "runner", "choose", 0)
    assert code == 0, printed
    run = json.loads((output / "run.json").read_text())
    assert (run["status"], run["clips"]["ok"]) == ("complete", 5)
    (problem,) = [problem for problem in run["problems"] if problem["code"] == "watchdog"]
    assert (problem["severity"], problem["fault"]) == ("warning", "organiser")
    assert json.loads((output / "manifest.json").read_text())["seal"]
