"""Evaluations side by side leave the bytes of `bundle run`, whatever is stopped or killed; nobody is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from bundle_tools import apart
from bundle_tools import evaluation as module
from bundle_tools.apart import Lost
from bundle_tools.cli import evaluate as command
from bundle_tools.cli.main import main
from bundle_tools.codabench.competition import load
from bundle_tools.driver import Driver
from bundle_tools.errors import BundleError
from bundle_tools.evaluation import EvaluationTask, answers_of, key_of
from bundle_tools.executors import TRIES, LocalWorkers
from tests import ROOT
from tests.evaluation.conftest import STAGES, call, evaluations, stage_of, wait_for
from tests.fewer import comparable
from tests.tiny import FILES, write_files

if TYPE_CHECKING:
    from collections.abc import Callable


def copies(submission: Path, folder: Path, names: tuple[str, ...]) -> list[Path]:
    return [shutil.copytree(submission, folder / name) for name in names]


def kill_each_in_its_stage(out: Path, over: Event, killed: list[str], kill: Callable[[int], None]) -> None:
    """Kill every evaluation once: in the stage whose name it bears."""
    while not over.wait(0.005):
        for pid, folder in evaluations().items():
            with suppress(OSError, psutil.Error):
                name = Path(folder).parent.name.split("-")[0].removeprefix(".")
                if out in Path(folder).parents and name not in killed and stage_of(Path(folder)) == name:
                    kill(pid)
                    killed.append(name)


def check_killed_in_every_stage(
    bundle: Path, crashing: Path, one_run: Path, tmp_path: Path, kill: Callable[[int], None], *options: str
) -> None:
    """Evaluate one submission for each stage, and kill each once there."""
    out, over, killed = tmp_path / "out", Event(), list[str]()
    submissions = copies(crashing, tmp_path / "all", STAGES)
    killer = Thread(target=kill_each_in_its_stage, args=(out, over, killed, kill))
    killer.start()
    try:
        assert main(call(bundle, out, *submissions, *options)) == 0
    finally:
        over.set()
        killer.join()
    assert set(killed) == set(STAGES)
    for stage in STAGES:
        assert answers_of(out / stage) == answers_of(one_run)
        assert comparable(out / stage / "scoring_output/scores.json") == comparable(
            one_run / "scoring_output/scores.json"
        )
    assert not [path for path in out.iterdir() if path.name.startswith(".") and path.name != ".lock"]


@pytest.mark.slow
def test_evaluations_killed_in_every_stage_change_no_byte(
    bundle: Path, crashing: Path, one_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def kill(pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    check_killed_in_every_stage(bundle, crashing, one_run, tmp_path, kill, "--workers", "2", "--verify", "1")
    printed = capsys.readouterr().out
    assert printed.count("is lost, and will be tried again") == len(STAGES)
    assert printed.count("Leaderboard row (Practice)") == len(STAGES) + 1
    assert "1 evaluated again, 1 with the same answers" in printed


@pytest.fixture
def waiting(tmp_path: Path) -> tuple[Path, Path]:
    """A bundle of a few lines, and a submission that writes a file `begun` and waits for a file `go` beside it."""
    bundle = write_files(tmp_path / "bundle", FILES)
    model = "import pathlib, time\n\ndef predict(_):\n"
    model += f"    folder = pathlib.Path({str(tmp_path)!r})\n    (folder / 'begun').touch()\n"
    model += "    while not (folder / 'go').exists():\n        time.sleep(0.01)\n    return 0.5\n"
    return bundle, write_files(tmp_path / "waiting", {"model.py": model})


def test_what_is_there_is_not_run_again_and_the_rest_is(
    waiting: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, (bundle, submission) = tmp_path / "out", waiting
    words = [sys.executable, "-m", "bundle_tools.cli.main", *call(bundle, out, submission, "--trust")]
    driver = subprocess.Popen(words, cwd=ROOT)
    wait_for((tmp_path / "begun").exists)
    assert main(call(bundle, out, submission, "--trust")) == 1
    assert "another `bundle evaluate` is at work here" in capsys.readouterr().err
    driver.kill()  # the end of its evaluations, too
    driver.wait()
    wait_for(lambda: not [folder for folder in evaluations().values() if str(out) in folder])
    (tmp_path / "go").touch()
    assert main(call(bundle, out, submission, "--trust")) == 0
    result = out / "waiting" / module.RESULT
    first = result.stat().st_ino
    assert main(call(bundle, out, submission, "--trust")) == 0
    assert result.stat().st_ino == first


@pytest.mark.slow
def test_an_evaluation_leaves_the_bytes_of_a_run(bundle: Path, crashing: Path, one_run: Path, tmp_path: Path) -> None:
    assert main(call(bundle, tmp_path / "out", crashing)) == 0
    assert answers_of(tmp_path / "out" / "crashing") == answers_of(one_run)


def test_another_submission_other_programs_or_data_are_no_result_of_this_one(
    bundle: Path, crashing: Path, tmp_path: Path
) -> None:
    competition = load(bundle)
    phase = competition.phase("practice")
    [task] = phase.tasks

    def key(submission: Path = crashing, image: str | None = None, **parts: Any) -> str:  # noqa: ANN401
        return key_of(competition, replace(phase, tasks=(replace(task, **parts),)), submission, image)

    keys = [key(), key(image="other:1.0")]
    for part in ("input_data", "reference_data", "ingestion_program", "scoring_program"):
        changed = shutil.copytree(getattr(task, part), tmp_path / part)
        parts: dict[str, Any] = {part: changed}
        assert key(**parts) == keys[0]
        (changed / "more.txt").write_text("1")
        keys.append(key(**parts))
    changed = shutil.copytree(crashing, tmp_path / "submission")
    (changed / "weights.txt").write_text("1")
    keys.append(key(changed))
    assert len(set(keys)) == len(keys) == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_says_so_and_leaves_nobody(
    number: signal.Signals, waiting: tuple[Path, Path], tmp_path: Path
) -> None:
    out, (bundle, submission) = tmp_path / "out", waiting
    words = [sys.executable, "-m", "bundle_tools.cli.main", *call(bundle, out, submission, "--trust")]
    driver = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wait_for((tmp_path / "begun").exists)
    driver.send_signal(number)
    assert driver.communicate(timeout=60)[1].endswith("bundle: interrupted.\n")
    assert driver.returncode == 130
    assert not [folder for folder in evaluations().values() if str(out) in folder]
    assert [path.name for path in out.iterdir()] == [".lock"]


def evaluation(folder: Path, **changes: Any) -> EvaluationTask:  # noqa: ANN401
    """Return an evaluation of nothing."""
    known = {"submission": "s", "bundle": "b", "phase": "practice", "image": None, "network": False, "models": 1}
    return EvaluationTask(
        **{**known, "out": str(folder / "one"), "key": "k", "alive": str(folder / "alive"), **changes}
    )


def test_an_evaluation_ends_when_its_driver_is_gone(
    bundle: Path, crashing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the workers of a scheduler, which live on."""
    monkeypatch.setattr(apart, "LOOK_S", 0.1)
    one = evaluation(tmp_path, submission=str(crashing), bundle=str(bundle))
    with pytest.raises(Lost):
        module.evaluate(one)
    Path(one.alive).touch()
    monkeypatch.setattr(apart, "GONE_S", 0.5)
    with pytest.raises(Lost):
        module.evaluate(one)
    assert [path.name for path in tmp_path.iterdir()] == ["alive"]


def test_a_killed_ingestion_is_a_loss_and_a_model_that_crashes_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "ingestion_output"
    folder.mkdir()
    for code, lost in ((0, False), (1, False), (75, False), (None, False), (-9, True), (137, True)):
        (folder / "metadata").write_text(f"ingestionExitCode: {'null' if code is None else code}\n")
        if lost:
            with pytest.raises(Lost, match="ingestion was killed"):
                module._check_ingestion(tmp_path)
        else:
            module._check_ingestion(tmp_path)


def lose(folder: Path, times: int, error: BaseException) -> list[str]:
    """Lose one of three evaluations some times; return what was wrong at the end."""
    left = [times]

    def run(one: EvaluationTask) -> dict[str, Any]:
        if one.name == "one" and left[0]:
            left[0] -= 1
            raise error
        return {"took_s": 1.0, "problems": [], "lines": [f"row of {one.name}"]}

    three = [evaluation(folder, out=str(folder / name)) for name in ("one", "two", "three")]
    with (workers := LocalWorkers(2)).executor:
        return Driver(workers, run).run(three)


def test_an_evaluation_is_tried_three_times_and_then_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lose(tmp_path, TRIES - 1, Lost("no memory")) == []
    printed = capsys.readouterr().out
    assert printed.count("one is lost, and will be tried again: no memory") == 2
    assert [f"row of {name}" in printed for name in ("one", "two", "three")] == [True] * 3
    wrong = lose(tmp_path, TRIES, Lost("no memory"))
    assert wrong == ["one: was lost 3 times, at last: no memory"]
    assert lose(tmp_path, 1, BundleError("no model.py")) == ["one: no model.py"]
    killed = type("KilledWorker", (Exception,), {})()  # Dask has begun it several times
    wrong = lose(tmp_path, 1, killed)
    assert wrong == ["one: was lost 3 times, at last: its workers died; were time and memory enough?"]
    with pytest.raises(BundleError, match="the scheduler has gone away"):
        lose(tmp_path, 1, CancelledError())


def test_the_line_tells_what_runs_and_what_is_left() -> None:
    driver = Driver(SimpleNamespace(slots=2), module.evaluate)  # type: ignore[arg-type]
    driver._total = 5
    assert driver._line("") == "evaluations: 0 of 5 done, 2 running, 0 lost; time left unknown"
    driver._done, driver._took_s = 1, 1800.0
    assert driver._line("").endswith("1 of 5 done, 2 running, 0 lost; about 1:00 h left")
    driver._pool = SimpleNamespace(slots=0)  # type: ignore[assignment]
    assert driver._line("waiting for jobs").endswith("0 running, 0 lost; time left unknown; waiting for jobs")


def test_a_second_run_that_says_something_else_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers = ["same", "same", "other"]

    def run(one: EvaluationTask) -> dict[str, Any]:
        folder = Path(one.out) / "ingestion_output"
        folder.mkdir(parents=True)
        (folder / "predictions.csv").write_text(answers.pop(0))
        return {"took_s": 1.0, "problems": [], "lines": []}

    monkeypatch.setattr(command, "evaluate", run)
    one = evaluation(tmp_path)
    run(one)
    with (workers := LocalWorkers(1)).executor:
        assert command._verify(workers, [one]) == []
        (wrong,) = command._verify(workers, [one])
    assert wrong.startswith(
        "evaluation_differs: one: a second run gave other answers (ingestion_output/predictions.csv)"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_models_share_the_cores_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for count, submissions, models in ((8, 1, 8), (8, 3, 2), (8, 50, 1), (2, 50, 4), (16, 50, 1)):
        with (workers := LocalWorkers(count)).executor:
            assert workers.models(submissions) == models


def test_wrong_arguments_are_told(tmp_path: Path, crashing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign = tmp_path / "out" / "crashing"
    foreign.mkdir(parents=True)
    for words, told in (
        ([str(crashing), str(crashing)], "names of their own"),
        ([str(tmp_path / "jobs")], "names of their own, other than `jobs`"),
        ([str(tmp_path / "none")], "found nothing there"),
        ([str(crashing)], "contains files of something else"),
    ):
        assert main(["evaluate", *words, "--out", str(tmp_path / "out")]) == 1
        assert told in capsys.readouterr().err


def test_a_submission_that_fails_is_named_and_the_others_get_their_rows(
    waiting: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, good = waiting
    (tmp_path / "go").touch()
    broken = write_files(tmp_path / "broken", {"model.py": "raise SystemExit(3)"})
    assert main(call(bundle, tmp_path / "out", broken, good, "--trust")) == 1
    captured = capsys.readouterr()
    assert captured.out.count("Leaderboard row (Practice)") >= 1
    assert "bundle: broken: Failed" in captured.err
    assert "waiting" not in captured.err
