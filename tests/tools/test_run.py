"""`bundle run` follows the worker's rules, told from inside by the programs of a tiny bundle."""

import ast
import zipfile
from pathlib import Path

import pytest
import yaml

from bundle_tools.cli import main

from .conftest import write_files


def run(tiny: Path, submission: Path | None = None, out: Path | None = None) -> tuple[int, Path]:
    out = out or tiny.parent / "out"
    code = main(["run", str(submission or tiny / "solutions" / "half"), "--bundle", str(tiny), "--out", str(out)])
    return code, out


def test_a_run_prints_the_row_and_keeps_everything(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out = run(tiny)
    printed = capfd.readouterr().out
    assert code == 0
    assert "Leaderboard row (Practice)\n  Accuracy  1.0\n  Errors    0.0\n" in printed
    assert f"Report: {out / 'scoring_output' / 'detailed_results.html'}" in printed
    assert sorted(path.name for path in out.iterdir()) == [".bundle-run", "ingestion_output", "logs", "scoring_output"]
    assert "ingestion sees" in (out / "logs" / "ingestion_stdout.txt").read_text()


def test_a_zip_runs_like_its_folder(tiny: Path) -> None:
    archive = tiny.parent / "half.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.write(tiny / "solutions" / "half" / "model.py", "model.py")
    assert run(tiny, archive)[0] == 0


def test_the_submission_lies_in_the_output_and_later_in_res(tiny: Path) -> None:
    _, out = run(tiny)
    assert "['model.py']" in (out / "logs" / "ingestion_stdout.txt").read_text()
    seen = ast.literal_eval((out / "scoring_output" / "seen.txt").read_text())
    assert "input/res/model.py" in seen
    assert "input/res/metadata" in seen
    assert "input/ref/answer.txt" in seen
    assert "shared" in seen
    assert not any(name.startswith("input_data") for name in seen)


def test_a_submission_with_metadata_is_not_copied(tiny: Path) -> None:
    (tiny / "solutions" / "half" / "metadata").write_text("description: mine\n")
    _, out = run(tiny)
    assert "ingestion sees []" in (out / "logs" / "ingestion_stdout.txt").read_text()


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
    assert "ingestion sees ['planted']" in (out / "logs" / "ingestion_stdout.txt").read_text()


def test_ingestions_exit_code_is_ignored_and_told_to_scoring(tiny: Path) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("sys.exit(3)\n")
    code, out = run(tiny)
    assert code == 0
    told = yaml.safe_load((out / "ingestion_output" / "metadata").read_text())
    assert told["exitCode"] is None
    assert told["ingestionExitCode"] == 3
    assert told["elapsedTime"] == told["ingestionElapsedTime"] > 0


def test_an_ingestion_that_cannot_start_does_not_stop_scoring(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tiny / "ingestion_program" / "metadata.yaml").write_text("command: python3 'x")
    (tiny / "solutions" / "half" / "predictions.txt").write_text("0.5")
    assert run(tiny)[0] == 0
    assert "The platform runs nothing here and goes on to scoring." in capfd.readouterr().out


def test_links_in_the_output_are_told(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("(output / 'link').symlink_to('/etc/hostname')\n(output / 'dangling').symlink_to('/nothing')\n")
    assert run(tiny)[0] == 0
    assert "Warning: the output holds links" in capfd.readouterr().out


def test_a_job_over_its_limit_is_told(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("execution_time_limit: 600", "execution_time_limit: 1"))
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("import time; time.sleep(1.1)\n")
    assert run(tiny)[0] == 0
    assert "more than the phase's limit of 1 s" in capfd.readouterr().out


def test_execute_bits_are_lost(tiny: Path) -> None:
    model = tiny / "solutions" / "half" / "model.py"
    model.chmod(0o755)
    _, out = run(tiny)
    assert not (out / "ingestion_output" / "model.py").stat().st_mode & 0o111


WRITE = "open('../output/scores.json', 'w').write("
FAILURES = {
    "scoring exits with 1": (
        {"scoring_program/score.py": "raise SystemExit(1)\n"},
        "The scoring program ended with exit code 1",
    ),
    "no scores": ({"scoring_program/score.py": ""}, "scores.json: the scoring program wrote none"),
    "NaN": (
        {"scoring_program/score.py": WRITE + '\'{"accuracy": NaN, "errors": 0}\')'},
        "accuracy: expected a finite number, found nan",
    ),
    "text": (
        {"scoring_program/score.py": WRITE + '\'{"accuracy": "x", "errors": 1e10}\')'},
        "accuracy: expected a number, found 'x'; errors: expected less than ten billion",
    ),
    "list": ({"scoring_program/score.py": WRITE + "'[1]')"}, "expected one object"),
    "BOM": (
        {"scoring_program/score.py": WRITE + "'\\ufeff{}')"},
        "scores.json: expected readable scores",
    ),
    "missing and unknown columns": (
        {"scoring_program/score.py": "open('../output/scores.txt', 'w').write('accuracy: 0.5\\nextra: 1\\n')"},
        "errors: missing; the leaderboard would show n/a; extra: not a column",
    ),
    "metadata in the output": (
        {"ingestion_program/ingest.py": "open('../output/metadata', 'w').write('x')"},
        "metadata: the output already holds it",
    ),
    "program zipped with its folder": (
        {"scoring_program/metadata.yaml": "x: 1"},
        "Scoring program: metadata.yaml has no `command` that is one text",
    ),
    "a command with an open quote": (
        {"scoring_program/metadata.yaml": "command: python3 'x"},
        "The command of the scoring cannot be split",
    ),
    "an empty command": ({"scoring_program/metadata.yaml": "command: ''"}, "The command of the scoring is empty"),
    "a program that is not there": ({"scoring_program/metadata.yaml": "command: no-such-program"}, "cannot start"),
    "command as a list": (
        {"scoring_program/metadata.yaml": "command: [python3, x]"},
        "Scoring program: metadata.yaml has no `command` that is one text",
    ),
}


@pytest.mark.parametrize(("files", "message"), FAILURES.values(), ids=FAILURES.keys())
def test_every_failure_says_why_on_the_last_line(
    tiny: Path, capfd: pytest.CaptureFixture[str], files: dict[str, str | bytes], message: str
) -> None:
    write_files(tiny, files)
    code, _ = run(tiny)
    assert code == 1
    assert message in capfd.readouterr().err.splitlines()[-1]


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
