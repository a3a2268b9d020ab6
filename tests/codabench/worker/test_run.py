"""`bundle run` follows the worker's rules, told from inside by programs of a few lines."""

import ast
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import yaml

from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.competition import load
from bundle_tools.codabench.worker import engine, jobs
from bundle_tools.codabench.worker.engine import Outcome
from bundle_tools.codabench.worker.jobs import Limit, limit_of
from bundle_tools.errors import BundleError
from tests.codabench.foreign import write_flat, write_multi_task, write_results
from tests.codabench.worker.conftest import Run
from tests.tiny import COMPETITION, INGESTION, end_when, swap, write_files
from tests.tiny import SCORING as SCORE

INGEST, META = "ingestion_program/ingest.py", "ingestion_program/metadata.yaml"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_prints_the_row_and_keeps_everything(tiny: Path, run: Run) -> None:
    (tiny / "solutions" / "half" / "model.py").chmod(0o755)
    ran = run()
    assert ran.code == 0
    assert "Status on Codabench: Finished\nLeaderboard row (Practice)\n  Accuracy  1.0\n  Errors    0.0\n" in ran.said
    assert "--image" not in ran.said
    assert f"Report: {ran.out / 'scoring_output' / 'detailed_results.html'}" in ran.said
    assert names(ran.out) == [".bundle-run", "ingestion_output", "logs", "scoring_output"]
    assert not (ran.out / "ingestion_output" / "model.py").stat().st_mode & 0o111  # the right to be executed is lost
    # The submission lies in the output, and later in res.
    assert "ingestion sees ['model.py']" in ran.log("prediction_ingestion")
    seen = ast.literal_eval((ran.out / "scoring_output" / "seen.txt").read_text())
    assert {"input/res/model.py", "input/res/metadata", "input/ref/answer.txt", "shared"} <= set(seen)
    assert not any(name.startswith("input_data") for name in seen)


def test_a_submission_lies_beside_the_results_of_ingestion_and_replaces_none(tiny: Path, run: Run) -> None:
    """Also where ingestion has emptied its output, as servers since pull request 2303 hand over."""
    clear = "import shutil\nfor old in output.iterdir(): old.unlink() if old.is_file() else shutil.rmtree(old)\n"
    made = "(output / 'own').mkdir(); (output / 'own/a').write_text('1'); (output / 'flat').write_text('1')\n"
    swap(tiny / INGEST, "predict = ", f"{clear}{made}predict = ")
    write_files(tiny / "solutions/half", {"predictions.txt": "99", "own/b": "2", "flat/c": "3", "deep/d/e": "4"})
    ran = run()
    assert "Accuracy  1.0" in ran.said
    assert not (ran.out / "ingestion_output" / "model.py").exists()
    seen = set(ast.literal_eval((ran.out / "scoring_output" / "seen.txt").read_text()))
    assert {f"input/res/{name}" for name in ("model.py", "own/a", "own/b", "flat", "deep/d/e")} <= seen
    assert "input/res/flat/c" not in seen


def test_zips_run_like_their_folders(tiny: Path, run: Run) -> None:
    submission, bundle = tiny.parent / "half.zip", tiny.parent / "bundle.zip"
    zip_folder(tiny / "solutions" / "half", submission)
    zip_folder(tiny, bundle)
    ran = run(submission=submission, bundle=bundle)
    assert ran.code == 0
    assert (ran.out / "scoring_output" / "scores.json").is_file()


def test_ingestions_exit_code_is_ignored_and_told_to_scoring(tiny: Path, run: Run) -> None:
    write_files(tiny, {INGEST: INGESTION + "sys.exit(3)\n"})
    ran = run()
    assert ran.code == 0
    told = yaml.safe_load((ran.out / "ingestion_output" / "metadata").read_text())
    assert told["exitCode"] is None
    assert told["ingestionExitCode"] == 3
    assert told["elapsedTime"] == told["ingestionElapsedTime"] > 0


def test_a_job_over_its_limit_is_removed_with_all_it_started(
    tiny: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    born = tiny.parent / "born"
    child = f"import os, time; open({str(born)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    start = f"subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)"
    write_files(tiny, {INGEST: INGESTION + f"import subprocess, time\n{start}\ntime.sleep(600)\n"})
    end_when(lambda: born.exists() and born.read_text() != "", monkeypatch)
    ran = run("--over-limit", "kill", "--time-limit", "2")
    assert ran.code == 1
    assert "Status on Codabench: Failed" in ran.said
    assert "execution time limit exceeded: ingestion was removed at 2 s (--time-limit)" in ran.error
    assert not (ran.out / "logs" / "scoring_stdout.txt").exists()
    assert (ran.out / "ingestion_output" / "predictions.txt").is_file()
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


def test_both_containers_of_a_job_share_its_limit(tiny: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    started = programs_that_take(1.25, monkeypatch)
    write_files(tiny / "solutions" / "half", {"metadata": "command: python3 /app/program/model.py\n"})
    ran = run("--over-limit", "kill", "--time-limit", "2")
    assert ran.code == 1
    assert "ingestion was removed at 2 s" in ran.error
    assert started == [("prediction", 2), ("prediction_ingestion", 0.75)]


def test_scoring_over_its_limit_is_removed(tiny: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    started = programs_that_take(60, monkeypatch)
    (tiny / META).unlink()
    ran = run("--over-limit", "kill", "--time-limit", "1")
    assert ran.code == 1
    assert "scoring was removed at 1 s" in ran.error
    assert started == [("scoring", 1)]


def test_the_workers_data_are_mapped_and_scoring_sees_them(tiny: Path, run: Run) -> None:
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
    assert run().log("scoring") == "[]\n"
    assert run("--data", str(tiny.parent / "worker")).log("scoring") == "['labels.bin']\n"
    assert run("--data", str(tiny / "nothing")).code == 1


def test_a_folder_that_a_program_has_locked_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object) -> None:
        raise PermissionError("[Errno 13] Permission denied: 'output'")

    # Root, who may run these tests, is never locked out.
    monkeypatch.setattr(jobs.Job, "finish", locked)
    ran = run()
    assert ran.code == 1
    assert "a program removed permissions that this command needs: [Errno 13]" in ran.error


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


def test_several_tasks_give_a_row_each(tiny: Path, run: Run) -> None:
    path = tiny / "competition.yaml"
    swap(path, "solutions:\n", SECOND_TASK)
    swap(path, "    tasks: [0]\n", "    tasks: [0, 1, 0]\n")
    path.write_text(path.read_text() + COMPUTED)
    write_files(tiny, {"reference_data/second/answer.txt": "0.25"})
    ran = run()
    assert ran.code == 0
    assert "Leaderboard row (Practice, Practice)\n  Accuracy  1.0\n  Errors    0.0\n  Mean      n/a\n" in ran.said
    assert "Leaderboard row (Practice, Sec/ond)\n  Accuracy  0.75\n" in ran.said
    assert names(ran.out) == [".bundle-run", "practice", "sec-ond"]
    assert names(ran.out / "sec-ond") == ["ingestion_output", "logs", "scoring_output"]
    (tiny / "reference_data" / "second" / "answer.txt").write_text("what?")
    swap(path, "Sec/ond", "practice")
    ran = run()
    assert ran.code == 1
    assert "bundle: task practice: Failed: the scoring program ended with exit code 1" in ran.error
    assert names(ran.out) == [".bundle-run", "practice", "practice-1"]  # two tasks of one name


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
        (
            "    name: Practice\n    i",
            "    name: P\n    ingestion_only_during_scoring: true\n    i",
            "is not supported",
        ),
        ("    tasks: [0]\n    exec", "    tasks: []\n    exec", "phase Practice: expected a task, found none"),
    ],
)
def test_what_cannot_be_run_here_is_named(tiny: Path, run: Run, old: str, new: str, message: str) -> None:
    swap(tiny / "competition.yaml", old, new)
    ran = run()
    assert ran.code == 1
    assert message in ran.error
    assert not ran.out.exists()


def test_odd_zips_are_told_and_run_as_they_are(tiny: Path, run: Run) -> None:
    archive = tiny.parent / "half.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("half/model.py", "def predict(question):\n    return 0.5\n")
        opened.writestr("__MACOSX/half/._model.py", "x")
    ran = run(submission=archive)
    assert ran.code == 1
    assert "submission: all files are in the folder 'half', and the platform leaves them there." in ran.said
    assert "submission: it contains __MACOSX." in ran.said
    assert "ingestion: exit code 1 is ignored" in ran.said


WRITE = "open('../output/scores.json', 'w').write("
SCORING, SCORING_META = "scoring_program/score.py", "scoring_program/metadata.yaml"
MINE = "solutions/half/metadata"
RESULTS = COMPETITION.replace("    ingestion_program: ingestion_program/\n", "")
START = "import os, shutil, sys\noutput = sys.argv[2].rstrip('/')\n"
FAILED, FINISHED = "bundle: Failed: ", "Status on Codabench: Finished\nLeaderboard row (Practice)\n"
SWALLOWED = "The platform runs nothing here and continues with scoring."
NO_SCORES, NO_COMMAND = f"{FAILED}could not find scores file", "has no `command` that is one text"
TRICKS = {
    "a pipe": "os.mkfifo(path)\n",
    "an endless link": "os.symlink('/dev/zero', path)\n",
    "a link": "os.symlink('/etc/hostname', path)\n",
    "a folder": "os.mkdir(path)\n",
    "too large": "os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 10**10)\n",
}
Files = dict[str, str | bytes | None]
CHANGES: dict[str, tuple[Files, str]] = {
    # The submission
    "with metadata, it is not copied": ({MINE: "description: mine\n"}, "ingestion sees []\n"),
    "its command runs first": (
        {
            MINE: "command: python3 /app/program/plant.py $output\n",
            "solutions/half/plant.py": "import sys\nopen(sys.argv[1] + '/planted', 'w').write('x')\n",
        },
        "ingestion sees ['planted']\n",
    ),
    "its command cannot start": (
        {MINE: "command: no-such-program"},
        f"submission: cannot start 'no-such-program'*{SWALLOWED}",
    ),
    "results": ({"competition.yaml": RESULTS, "solutions/half/predictions.txt": "0.5"}, FINISHED),
    "results beside metadata": (
        {"competition.yaml": RESULTS, "solutions/half/predictions.txt": "0.5", MINE: "x: 1"},
        FAILED + "Metadata file not found",
    ),
    "metadata, and nothing runs": ({META: None, MINE: "x: 1"}, FAILED + "Metadata file not found"),
    "rounded": ({"solutions/half/model.py": "def predict(_):\n    return 0.412345\n"}, "  Accuracy  0.9123\n"),
    # The first job
    "no metadata": ({META: None}, f"no metadata.yaml at the root; found ingest.py. {SWALLOWED}"),
    "command of ingestion as a list": ({META: "command: [a]"}, f"{NO_COMMAND}. {SWALLOWED}"),
    "open quote in ingestion": ({META: "command: python3 'x"}, f"the command cannot be split*{SWALLOWED}"),
    "no such ingestion": ({META: "command: no-such-program"}, f"cannot start 'no-such-program'*{SWALLOWED}"),
    "links and large files": (
        {
            INGEST: INGESTION
            + "(output / 'link').symlink_to('/nothing')\n(output / 'x').write_bytes(bytes(2_000_000))\n"
        },
        "predictions: the worker follows links into its own disk: link.*predictions: 2 MB take long to send",
    ),
    "over the limit": (
        {
            INGEST: INGESTION + "import time; time.sleep(1.1)\n",
            "competition.yaml": COMPETITION.replace("_limit: 600", "_limit: 1"),
        },
        "more than the limit of 1 s (execution_time_limit)",
    ),
    "metadata in the predictions": (
        {INGEST: "open('../output/metadata', 'w').write('x')"},
        FAILED + "metadata: the output already contains it",
    ),
    # The second job
    "scoring exits with 1": (
        {SCORING: "raise SystemExit(1)\n"},
        FAILED + "the scoring program ended with exit code 1. The platform drops its output; here it is kept.",
    ),
    "no scores": ({SCORING: ""}, NO_SCORES),
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
    "metadata in the scores": (
        {SCORING: "open('../output/metadata', 'w').write('x')\n" + WRITE + '\'{"accuracy": 1, "errors": 0}\')'},
        FAILED + "metadata: the output already contains it*The scores were sent earlier and remain.",
    ),
    "no metadata of scoring": ({SCORING_META: None}, f"{NO_SCORES}: scoring program: no metadata.yaml at the root"),
    "metadata without a command": ({SCORING_META: "x: 1"}, f"{NO_SCORES}: scoring program: metadata.yaml {NO_COMMAND}"),
    "command as a list": ({SCORING_META: "command: [python3, x]"}, f"{NO_SCORES}*{NO_COMMAND}"),
    "open quote": ({SCORING_META: "command: python3 'x"}, FAILED + "scoring program: the command cannot be split"),
    "empty command": ({SCORING_META: "command: ''"}, FAILED + "scoring program: the command is empty"),
    "no such program": ({SCORING_META: "command: no-such-program"}, FAILED + "scoring program: cannot start 'no-such"),
    "damaged program": (
        {"competition.yaml": COMPETITION.replace("scoring_program/", "x.zip"), "x.zip": "no zip"},
        FAILED + "bad or empty zip file, after about three minutes of trying",
    ),
    **{
        f"{name} as {file}": ({SCORING: f"{START}path = output + '/{file}'\n{trick}"}, f"{FAILED}{file}: expected")
        for name, trick in TRICKS.items()
        for file in ("scores.json", "scores.txt")
    },
    # competition.yaml
    "a computed column": ({"competition.yaml": COMPETITION + COMPUTED}, "  Mean      0.5\n"),
    "no phase called practice": (
        {
            "competition.yaml": COMPETITION.replace(
                "index: 0\n    name: Practice\n    start", "index: 0\n    name: Día 1\n    start"
            )
        },
        "Leaderboard row (Día 1)",
    ),
}


@pytest.mark.parametrize(("files", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_of_the_bundle_has_this_end(
    tiny: Path, run: Run, monkeypatch: pytest.MonkeyPatch, files: Files, message: str
) -> None:
    """`message`: parts in their order; of the last line of an error if the first one begins with "bundle:"."""
    monkeypatch.setattr(jobs, "LARGE_BYTES", 1_000_000)
    write_files(tiny, {"solutions/half/predictions.txt": "0.5", **{name: text or "" for name, text in files.items()}})
    for name in (name for name, text in files.items() if text is None):
        (tiny / name).unlink()
    ran = run()
    assert ran.code == message.startswith("bundle:")
    assert (ran.out / "ingestion_output").is_dir()
    printed = ran.error.splitlines()[-1] if ran.code else ran.said
    for part in message.split("*"):
        assert part in printed
        printed = printed.partition(part)[2]


@pytest.mark.parametrize(
    ("options", "submission", "message"),
    [
        ((), "../bad.zip", "bad.zip: expected a readable zip file"),
        ((), "nothing", "found nothing there"),
        (("--phase", "finale"), "solutions/half", "expected one of practice; found 'finale'"),
    ],
)
def test_what_is_not_there_is_named(
    tiny: Path, run: Run, options: tuple[str, ...], submission: str, message: str
) -> None:
    (tiny.parent / "bad.zip").write_text("no zip")
    ran = run(*options, submission=tiny / submission)
    assert ran.code == 1
    assert message in ran.error


def test_only_our_own_results_are_replaced(tiny: Path, run: Run) -> None:
    precious = tiny.parent / "thesis"
    write_files(precious, {"chapter.txt": "years of work"})
    ran = run(out=precious)
    assert ran.code == 1
    assert (precious / "chapter.txt").read_text() == "years of work"
    assert "contains files that `bundle run` did not write" in ran.error
    assert (run().code, run().code) == (0, 0)
    assert run(out=tiny / "solutions" / "half" / "out").code == 1


def test_the_help_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 35
    assert all(len(line) <= 120 for line in lines)


GONE = "shutil.rmtree(output)\n"


@pytest.mark.parametrize("change", ["", "open(output, 'w').close()\n", "os.symlink('/nothing/there', output)\n"])
@pytest.mark.parametrize("program", [INGEST, SCORING])
def test_the_output_folder_comes_back(tiny: Path, run: Run, program: str, change: str) -> None:
    kept = SCORE.replace("truth - found", "truth - 0.5").replace('found = float((source / "res"', '# (("')
    write_files(tiny, {SCORING: kept, program: START + GONE + change})
    ran = run()
    assert ran.code == (program == SCORING)
    assert "/app/output, which is impossible in a container; treated as empty" in ran.said
    for name in ("ingestion_output", "scoring_output"):
        assert (ran.out / name).is_dir()
        assert not (ran.out / name).is_symlink()


@pytest.mark.parametrize("program", [INGEST, SCORING, None])
def test_a_name_that_is_not_utf8_ends_in_a_verdict(tiny: Path, run: Run, program: str | None) -> None:
    if program is None:
        (tiny / "solutions" / "half" / "\udcff.html").write_text("x")
    else:
        write_files(
            tiny, {program: "import os, sys\nopen(os.fsencode(sys.argv[2]) + b'/\\xff.html', 'w').write('x')\n"}
        )
    ran = run()
    assert ran.code == 1
    assert (program == SCORING) != ("expected file names in UTF-8, found '\\\\udcff.html'" in ran.error)


@pytest.mark.parametrize(
    ("word", "on"), [("true", True), ("'true'", True), ("'Yes'", True), ("1", True), ("'no'", False), ("'off'", False)]
)
def test_switches_are_read_as_the_checker_reads_them(tiny: Path, word: str, on: bool) -> None:
    text = COMPETITION.replace("enable_detailed_results: true", f"enable_detailed_results: {word}")
    text = text.replace("precision: 0", f"precision: 0, hidden: {word}")
    text = text.replace("    scoring_program:", f"    ingestion_only_during_scoring: {word}\n    scoring_program:")
    competition = load(write_files(tiny, {"competition.yaml": text}))
    assert competition.detailed_results is on
    assert competition.columns[1].hidden is on
    assert competition.phases[0].task.ingestion_only_during_scoring is on


def test_an_image_for_processes_is_ignored_aloud(run: Run) -> None:
    ran = run("--image", "python:3.12")
    assert ran.code == 0
    assert "WARNING: --image is ignored: the process engine runs no container." in ran.said


@pytest.mark.parametrize(
    ("phase_s", "own_queue", "override_s", "limit"),
    [
        (600, False, None, Limit(600, True, "execution_time_limit")),
        (1200, False, None, Limit(600, True, "the cap of the default queue, although the phase says 1200 s")),
        (1200, True, None, Limit(1200, True, "execution_time_limit")),
        (1200, False, 900, Limit(900, True, "--time-limit")),
    ],
)
def test_the_default_queue_caps_the_limit(
    tiny: Path, phase_s: int, own_queue: bool, override_s: int | None, limit: Limit
) -> None:
    text = COMPETITION + "queue: 8f8f9a3e-3c0e-4a52-9d0d-2f5f6f0f7a11\n" * own_queue
    competition = load(write_files(tiny, {"competition.yaml": text.replace("limit: 600", f"limit: {phase_s}")}))
    assert limit_of(competition, competition.phases[0], kill=True, override_s=override_s) == limit


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("limit: 600", "limit: ten", "phases.0.execution_time_limit: expected an integer"),
        ("    scoring_program: scoring_program/\n", "", "task Practice: no scoring_program"),
        ("sorting: asc", "sorting: up", "leaderboards.0.columns.1.sorting: expected one of asc, desc"),
        ("index: 1, key: errors", "key: errors", "leaderboards.0.columns.1.index"),
        ("title: Tiny", "titel: Tiny", None),
        ("    start:", "    begin:", None),
    ],
)
def test_what_running_needs_is_named_where_it_is_wrong(tiny: Path, old: str, new: str, named: str | None) -> None:
    swap(tiny / "competition.yaml", old, new)
    if named is None:
        assert [phase.time_limit_s for phase in load(tiny).phases] == [600]
    else:
        with pytest.raises(BundleError, match=re.escape(named)):
            load(tiny)


FOREIGN: dict[str, tuple[Callable[[Path], Path], tuple[str, ...], int]] = {
    "flat": (write_flat, (), 1),
    "flat, final": (write_flat, ("--phase", "final"), 1),
    "several tasks": (write_multi_task, ("--phase", "season"), 2),
    "one of several": (write_multi_task, (), 1),
    "results": (write_results, (), 1),
}


@pytest.mark.parametrize(("write", "options", "rows"), FOREIGN.values(), ids=FOREIGN.keys())
def test_bundles_of_others_run(
    tmp_path: Path, run: Run, write: Callable[[Path], Path], options: tuple[str, ...], rows: int
) -> None:
    root = write(tmp_path / "bundle")
    ran = run(*options, submission=root / "solutions" / "sample", bundle=root)
    assert ran.code == 0
    assert ran.said.count("Status on Codabench: Finished\n") == ran.said.count("Leaderboard row") == rows


@pytest.mark.parametrize("depth", [600, 1000])
def test_folders_deeper_than_python_can_copy_fail_without_a_traceback(run: Run, tiny: Path, depth: int) -> None:
    archive = tiny.parent / "deep.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("model.py", "")
        opened.writestr("d/" * depth + "x.txt", "")
    ran = run(submission=archive)
    assert ran.code == 1
    assert "Failed: " in ran.error
    assert "Traceback" not in ran.error
    assert not [path for path in ran.out.iterdir() if path.name.startswith(".work")]
