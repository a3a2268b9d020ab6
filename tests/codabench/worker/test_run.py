"""`bundle run` follows the worker's rules, told from inside by the programs of a tiny bundle."""

import ast
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import yaml

from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.worker import engine, jobs
from bundle_tools.codabench.worker.engine import Outcome
from tests.tiny import COMPETITION, INGESTION, end_when, write_files

Ran = tuple[int, Path]
"""Exit code, and the folder of the results."""


def run(tiny: Path, submission: Path | None = None, out: Path | None = None, options: tuple[str, ...] = ()) -> Ran:
    out = out or tiny.parent / "out"
    arguments = ["run", str(submission or tiny / "solutions" / "half"), "--bundle", str(tiny), "--out", str(out)]
    return main([*arguments, *options]), out


def test_a_run_prints_the_row_and_keeps_everything(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out = run(tiny)
    printed = capfd.readouterr().out
    assert code == 0
    assert "Status on Codabench: Finished\nLeaderboard row (Practice)\n  Accuracy  1.0\n  Errors    0.0\n" in printed
    assert 'Score in "My submissions": 1.00' in printed
    assert f"Report: {out / 'scoring_output' / 'detailed_results.html'}" in printed
    assert sorted(path.name for path in out.iterdir()) == [".bundle-run", "ingestion_output", "logs", "scoring_output"]
    assert "ingestion sees" in (out / "logs" / "prediction_ingestion_stdout.txt").read_text()


def test_a_zip_runs_like_its_folder(tiny: Path) -> None:
    archive = tiny.parent / "half.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.write(tiny / "solutions" / "half" / "model.py", "model.py")
    assert run(tiny, archive)[0] == 0


def test_the_submission_lies_in_the_output_and_later_in_res(tiny: Path) -> None:
    _, out = run(tiny)
    assert "['model.py']" in (out / "logs" / "prediction_ingestion_stdout.txt").read_text()
    seen = ast.literal_eval((out / "scoring_output" / "seen.txt").read_text())
    assert "input/res/model.py" in seen
    assert "input/res/metadata" in seen
    assert "input/ref/answer.txt" in seen
    assert "shared" in seen
    assert not any(name.startswith("input_data") for name in seen)


def test_a_submission_with_metadata_is_not_copied(tiny: Path) -> None:
    (tiny / "solutions" / "half" / "metadata").write_text("description: mine\n")
    _, out = run(tiny)
    assert "ingestion sees []" in (out / "logs" / "prediction_ingestion_stdout.txt").read_text()


def test_a_submission_with_a_command_runs_first_on_the_same_output(tiny: Path) -> None:
    write_files(
        tiny / "solutions" / "half",
        {
            "metadata.yaml": "command: python3 /app/program/plant.py $output\n",
            "plant.py": "import sys\nopen(sys.argv[1] + '/planted', 'w').write('x')\n",
        },
    )
    code, out = run(tiny)
    assert code == 0
    assert "ingestion sees ['planted']" in (out / "logs" / "prediction_ingestion_stdout.txt").read_text()


def test_ingestions_exit_code_is_ignored_and_told_to_scoring(tiny: Path) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("sys.exit(3)\n")
    code, out = run(tiny)
    assert code == 0
    told = yaml.safe_load((out / "ingestion_output" / "metadata").read_text())
    assert told["exitCode"] is None
    assert told["ingestionExitCode"] == 3
    assert told["elapsedTime"] == told["ingestionElapsedTime"] > 0


def test_links_in_the_output_are_told(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("(output / 'link').symlink_to('/etc/hostname')\n(output / 'dangling').symlink_to('/nothing')\n")
    assert run(tiny)[0] == 0
    assert "predictions: the worker follows links on its own disk: dangling, link." in capfd.readouterr().out


def test_a_job_over_its_limit_is_told(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("execution_time_limit: 600", "execution_time_limit: 1"))
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("import time; time.sleep(1.1)\n")
    assert run(tiny)[0] == 0
    assert "more than the limit of 1 s (execution_time_limit)" in capfd.readouterr().out


def test_execute_bits_are_lost(tiny: Path) -> None:
    model = tiny / "solutions" / "half" / "model.py"
    model.chmod(0o755)
    _, out = run(tiny)
    assert not (out / "ingestion_output" / "model.py").stat().st_mode & 0o111


def test_a_job_over_its_limit_is_removed_with_all_it_started(
    tiny: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    born = tiny.parent / "born"
    child = f"import os, time; open({str(born)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write(
            "import subprocess, time\n"
            f"subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
            "time.sleep(600)\n"
        )
    end_when(lambda: born.exists() and born.read_text() != "", monkeypatch)
    code, out = run(tiny, options=("--over-limit", "kill", "--time-limit", "2"))
    printed = capfd.readouterr()
    assert code == 1
    assert "Status on Codabench: Failed" in printed.out
    assert "execution time limit exceeded: ingestion was removed at 2 s (--time-limit)" in printed.err
    assert not (out / "logs" / "scoring_stdout.txt").exists()
    assert (out / "ingestion_output" / "predictions.txt").is_file()
    assert has_ended(int(born.read_text()))


def has_ended(pid: int) -> bool:
    """Tell whether a process that was killed is gone, or waits for somebody to ask for its end."""
    for _ in range(6000):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False


def programs_that_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float | None]]:
    """Start no program; each takes so long by a clock of its own. Receives their names and the time that each gets."""
    started: list[tuple[str, float | None]] = []
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: seconds * len(started)))

    def stand_in(_: list[str], log: Path, *, timeout_s: float | None, **__: object) -> Outcome:
        started.append((log.name, timeout_s))
        return Outcome(0, seconds, killed=timeout_s is not None and timeout_s < seconds)

    monkeypatch.setattr(engine, "stream", stand_in)
    return started


def test_both_containers_of_a_job_share_its_limit(
    tiny: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = programs_that_take(1.25, monkeypatch)
    write_files(tiny / "solutions" / "half", {"metadata": "command: python3 /app/program/model.py\n"})
    assert run(tiny, options=("--over-limit", "kill", "--time-limit", "2"))[0] == 1
    assert "ingestion was removed at 2 s" in capfd.readouterr().err
    assert started == [("prediction", 2), ("prediction_ingestion", 0.75)]


def test_scoring_over_its_limit_is_removed(
    tiny: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = programs_that_take(60, monkeypatch)
    (tiny / "ingestion_program" / "metadata.yaml").unlink()
    assert run(tiny, options=("--over-limit", "kill", "--time-limit", "1"))[0] == 1
    assert "scoring was removed at 1 s" in capfd.readouterr().err
    assert started == [("scoring", 1)]


def test_the_workers_data_are_mapped_and_scoring_sees_them(tiny: Path) -> None:
    write_files(tiny.parent / "worker", {"labels.bin": "x"})
    write_files(
        tiny,
        {
            "scoring_program/metadata.yaml": "command: python3 score.py /app/input /app/output /app/data\n",
            "scoring_program/score.py": (
                "import json, os, sys\n"
                "open(sys.argv[2] + '/scores.json', 'w').write(json.dumps({'accuracy': 1, 'errors': 0}))\n"
                "print(os.listdir(sys.argv[3]))\n"
            ),
        },
    )
    _, out = run(tiny)
    assert (out / "logs" / "scoring_stdout.txt").read_text() == "[]\n"
    _, out = run(tiny, options=("--data", str(tiny.parent / "worker")))
    assert (out / "logs" / "scoring_stdout.txt").read_text() == "['labels.bin']\n"
    assert run(tiny, options=("--data", str(tiny / "nothing")))[0] == 1


def as_results(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("    ingestion_program: ingestion_program/\n", ""))
    write_files(tiny / "solutions" / "half", {"predictions.txt": "0.5"})


def test_without_ingestion_the_submission_is_the_prediction(tiny: Path) -> None:
    as_results(tiny)
    code, out = run(tiny)
    assert code == 0
    assert yaml.safe_load((out / "ingestion_output" / "metadata").read_text()) == dict.fromkeys(
        ("elapsedTime", "exitCode", "ingestionElapsedTime", "ingestionExitCode")
    )


def test_results_with_a_metadata_are_not_taken_over(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    as_results(tiny)
    write_files(tiny / "solutions" / "half", {"metadata": "description: mine\n"})
    assert run(tiny)[0] == 1
    assert "Failed: Metadata file not found" in capfd.readouterr().err


def test_a_metadata_and_no_ingestion_leave_no_output(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_files(tiny / "solutions" / "half", {"metadata": "description: mine\n"})
    (tiny / "ingestion_program" / "metadata.yaml").unlink()
    assert run(tiny)[0] == 1
    assert "Failed: Metadata file not found" in capfd.readouterr().err


def test_the_zip_of_a_bundle_runs_like_its_folder(tiny: Path) -> None:
    archive = tiny.parent / "bundle.zip"
    zip_folder(tiny, archive)
    out = tiny.parent / "out"
    assert main(["run", str(tiny / "solutions" / "half"), "--bundle", str(archive), "--out", str(out)]) == 0
    assert (out / "scoring_output" / "scores.json").is_file()


def test_a_scoring_program_without_metadata_becomes_the_output(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tiny / "scoring_program" / "metadata.yaml").unlink()
    assert run(tiny)[0] == 1
    assert "could not find scores file" in capfd.readouterr().err
    (tiny / "scoring_program" / "scores.json").write_text('{"accuracy": 0.25, "errors": 3}')
    assert run(tiny)[0] == 0
    assert "Accuracy  0.25" in capfd.readouterr().out


def test_two_tasks_of_one_name_keep_their_results_apart(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text().replace("solutions:\n", SECOND_TASK.replace("Sec/ond", "practice"))
    path.write_text(text.replace("    tasks: [0]\n", "    tasks: [0, 1]\n"))
    write_files(tiny, {"reference_data/second/answer.txt": "0.25"})
    code, out = run(tiny)
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [".bundle-run", "practice", "practice-1"]


def test_large_and_doubled_predictions_are_told(
    tiny: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LARGE_BYTES", 1_000_000)
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("(output / 'large').write_bytes(bytes(2_000_000))\n")
    assert run(tiny)[0] == 0
    printed = capfd.readouterr().out
    assert "predictions: 2 MB take long to send" in printed
    assert "predictions: 1 of the submission's own files lie among them" in printed
    monkeypatch.undo()
    write_files(tiny, {"ingestion_program/ingest.py": INGESTION + "(output / 'model.py').unlink()\n"})
    run(tiny)
    assert "predictions:" not in capfd.readouterr().out


def test_a_board_of_hidden_columns_is_told(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("sorting: desc", "sorting: desc, hidden: true"))
    run(tiny)
    printed = capfd.readouterr().out
    assert "  Accuracy (hidden)  1.0\n" in printed
    assert "All columns are hidden" not in printed
    path.write_text(path.read_text().replace("sorting: asc", "sorting: asc, hidden: true"))
    run(tiny)
    assert "All columns are hidden" in capfd.readouterr().out


def test_a_folder_that_a_program_has_locked_is_named(
    tiny: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise PermissionError("[Errno 13] Permission denied: 'output'")

    # Root, who may run these tests, is never locked out.
    monkeypatch.setattr(jobs.Job, "finish", locked)
    assert run(tiny)[0] == 1
    assert "a program took away the permission to go on: [Errno 13]" in capfd.readouterr().err


SECOND_TASK = """\
  - index: 1
    name: Sec/ond
    input_data: input_data/practice/
    reference_data: reference_data/second/
    ingestion_program: ingestion_program/
    scoring_program: scoring_program/
solutions:
"""
COMPUTED = "      - {index: 2, key: mean, title: Mean, computation: avg, computation_indexes: [0, 1]}\n"


def test_several_tasks_give_a_row_each(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text().replace("solutions:\n", SECOND_TASK).replace("    tasks: [0]\n", "    tasks: [0, 1, 0]\n")
    path.write_text(text + COMPUTED)
    write_files(tiny, {"reference_data/second/answer.txt": "0.25"})
    code, out = run(tiny)
    printed = capfd.readouterr().out
    assert code == 0
    assert "Leaderboard row (Practice, Practice)\n  Accuracy  1.0\n  Errors    0.0\n  Mean      n/a\n" in printed
    assert "Leaderboard row (Practice, Sec/ond)\n  Accuracy  0.75\n" in printed
    assert sorted(path.name for path in out.iterdir()) == [".bundle-run", "practice", "sec-ond"]
    assert sorted(path.name for path in (out / "sec-ond").iterdir()) == ["ingestion_output", "logs", "scoring_output"]
    (tiny / "reference_data" / "second" / "answer.txt").write_text("what?")
    assert run(tiny)[0] == 1
    assert "bundle: task Sec/ond: Failed: the scoring program ended with exit code 1" in capfd.readouterr().err


def test_one_task_gets_its_computed_columns(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (tiny / "competition.yaml").open("a") as file:
        file.write(COMPUTED)
    assert run(tiny)[0] == 0
    assert "  Mean      0.5\n" in capfd.readouterr().out


ELSEWHERE = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("input_data: input_data/practice/", f"input_data: {ELSEWHERE}", "its input_data is stored on the server"),
        ("scoring_program: scoring_program/", f"scoring_program: {ELSEWHERE}", "its scoring_program is stored on"),
        (
            "    name: Practice\n    input_data",
            f"    key: {ELSEWHERE}\n    input_data",
            "its key is stored on the server",
        ),
        ("input_data/practice/", "input_data/lost/", "lost: expected a folder or a zip, found nothing"),
        ("    name: Practice\n    i", "    name: P\n    ingestion_only_during_scoring: true\n    i", "is not imitated"),
        ("    tasks: [0]\n    exec", "    tasks: []\n    exec", "phase Practice: expected a task, found none"),
    ],
)
def test_what_cannot_be_run_here_is_named(
    tiny: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    path = tiny / "competition.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    code, out = run(tiny)
    assert code == 1
    assert message in capfd.readouterr().err
    assert not out.exists()


def test_the_first_phase_runs_where_none_is_called_practice(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text().replace(
        "phases:\n  - index: 0\n    name: Practice", "phases:\n  - index: 0\n    name: Día 1"
    )
    path.write_text(text)
    assert run(tiny)[0] == 0
    assert "Leaderboard row (Día 1)" in capfd.readouterr().out
    assert run(tiny, options=("--phase", "día-1"))[0] == 0


def test_odd_zips_are_told_and_run_as_they_are(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    archive = tiny.parent / "half.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("half/model.py", "def predict(question):\n    return 0.5\n")
        opened.writestr("__MACOSX/half/._model.py", "x")
    assert run(tiny, archive)[0] == 1
    printed = capfd.readouterr().out
    assert "submission: all files lie in the folder 'half', and there the platform leaves them." in printed
    assert "submission: it holds __MACOSX." in printed
    assert "ingestion: exit code 1 is ignored" in printed


WRITE = "open('../output/scores.json', 'w').write("
SCORING = "scoring_program/score.py"
FAILED = "bundle: Failed: "
ENDS: dict[str, tuple[dict[str, str | bytes], str]] = {
    "scoring exits with 1": (
        {SCORING: "open('../output/detailed_results.html', 'w').write('x')\nraise SystemExit(1)\n"},
        FAILED + "the scoring program ended with exit code 1. The platform drops its output; here it is kept.",
    ),
    "no scores": ({SCORING: ""}, FAILED + "could not find scores file"),
    "NaN": (
        {SCORING: WRITE + '\'{"accuracy": NaN, "errors": 0}\')'},
        "bundle: Finished without scores: scores.json: accuracy: nan. The worker cannot send NaN",
    ),
    "text": (
        {SCORING: WRITE + '\'{"errors": 1, "accuracy": "x"}\')'},
        "bundle: Finished: accuracy: expected a number below ten billion, found 'x'. The server answers with error "
        "500, which the worker ignores; it keeps errors.",
    ),
    "list": ({SCORING: WRITE + "'[1]')"}, "bundle: Finished without scores: scores: expected one object"),
    "BOM": ({SCORING: WRITE + "'\\ufeff{}')"}, FAILED + "scores.json: expected readable scores"),
    "missing columns": (
        {SCORING: "open('../output/scores.txt', 'w').write('errors: 0.5\\nextra: 1\\n')"},
        "bundle: Finished: the row is not complete: no accuracy.",
    ),
    "metadata in the predictions": (
        {"ingestion_program/ingest.py": "open('../output/metadata', 'w').write('x')"},
        FAILED + "metadata: the output already holds it",
    ),
    "metadata in the scores": (
        {
            SCORING: "open('../output/metadata', 'w').write('x')\n" + WRITE + '\'{"accuracy": 1, "errors": 0}\')',
        },
        "A program must not create it. The scores were sent before and stay.",
    ),
    "a program with a metadata of no command": (
        {"scoring_program/metadata.yaml": "x: 1"},
        FAILED + "could not find scores file: scoring program: metadata.yaml has no `command` that is one text",
    ),
    "a command with an open quote": (
        {"scoring_program/metadata.yaml": "command: python3 'x"},
        FAILED + "scoring program: the command cannot be split",
    ),
    "an empty command": (
        {"scoring_program/metadata.yaml": "command: ''"},
        FAILED + "scoring program: the command is empty",
    ),
    "a program that is not there": (
        {"scoring_program/metadata.yaml": "command: no-such-program"},
        FAILED + "scoring program: cannot start 'no-such-program'",
    ),
    "command as a list": (
        {"scoring_program/metadata.yaml": "command: [python3, x]"},
        "metadata.yaml has no `command` that is one text",
    ),
    "a damaged program": (
        {"competition.yaml": COMPETITION.replace("scoring_program/", "x.zip"), "x.zip": "no zip"},
        FAILED + "bad or empty zip file, after about three minutes of trying",
    ),
}


@pytest.mark.parametrize(("files", "message"), ENDS.values(), ids=ENDS.keys())
def test_every_bad_end_says_why_on_the_last_line(
    tiny: Path, capfd: pytest.CaptureFixture[str], files: dict[str, str | bytes], message: str
) -> None:
    write_files(tiny, files)
    code, out = run(tiny)
    assert code == 1
    assert message in capfd.readouterr().err.splitlines()[-1]
    assert (out / "ingestion_output").is_dir()


SWALLOWED = {
    "no metadata": ("ingestion_program/metadata.yaml", None, "no metadata.yaml at the root; found ingest.py"),
    "a list": ("ingestion_program/metadata.yaml", "command: [a]", "has no `command` that is one text"),
    "open quote": ("ingestion_program/metadata.yaml", "command: python3 'x", "the command cannot be split"),
    "no such program": (
        "ingestion_program/metadata.yaml",
        "command: no-such-program",
        "cannot start 'no-such-program'",
    ),
    "the submission's own": ("solutions/half/metadata.yaml", "command: no-such-program", "submission: cannot start"),
}


@pytest.mark.parametrize(("name", "content", "message"), SWALLOWED.values(), ids=SWALLOWED.keys())
def test_what_cannot_start_in_the_first_job_is_swallowed(
    tiny: Path, capfd: pytest.CaptureFixture[str], name: str, content: str | None, message: str
) -> None:
    write_files(tiny, {"solutions/half/predictions.txt": "0.5", name: content or ""})
    if content is None:
        (tiny / name).unlink()
    assert run(tiny)[0] == 0
    printed = capfd.readouterr().out
    assert message in printed
    assert "The platform runs nothing here and goes on to scoring." in printed


def test_a_bad_zip_and_a_missing_submission_are_named(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = tiny.parent / "bad.zip"
    bad.write_text("no zip")
    assert run(tiny, bad)[0] == 1
    assert "bad.zip: expected a readable zip file" in capfd.readouterr().err
    assert run(tiny, tiny / "nothing")[0] == 1
    assert "found nothing there" in capfd.readouterr().err


def test_only_our_own_results_are_replaced(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    precious = tiny.parent / "thesis"
    write_files(precious, {"chapter.txt": "years of work"})
    assert run(tiny, out=precious)[0] == 1
    assert (precious / "chapter.txt").read_text() == "years of work"
    assert "holds files that `bundle run` did not make" in capfd.readouterr().err
    assert run(tiny)[0] == 0
    assert run(tiny)[0] == 0
    assert run(tiny, out=tiny / "solutions" / "half" / "out")[0] == 1


def test_an_unknown_phase_names_the_known_ones(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tiny / "solutions" / "half"), "--bundle", str(tiny), "--phase", "finale"]) == 1
    assert "expected one of practice; found 'finale'" in capfd.readouterr().err


def test_scores_are_rounded_as_the_platform_shows_them(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_files(tiny, {"solutions/half/model.py": "def predict(question):\n    return 0.412345\n"})
    assert run(tiny)[0] == 0
    assert "0.9123" in capfd.readouterr().out


def test_the_help_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 35
    assert all(len(line) <= 120 for line in lines)
