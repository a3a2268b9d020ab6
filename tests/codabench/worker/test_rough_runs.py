"""Programs that leave their folders as no honest program does: a verdict, never a traceback or a hang."""

from pathlib import Path

import pytest

from bundle_tools.codabench.competition import load
from tests.codabench.worker.conftest import Run
from tests.guides import fork_programs
from tests.tiny import COMPETITION, SCORING, write_files

INGEST, SCORE = "ingestion_program/ingest.py", "scoring_program/score.py"
START = "import os, shutil, sys\noutput = sys.argv[2].rstrip('/')\n"
TAKEN = "which is impossible in a container; treated as empty"


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_programs(monkeypatch)


GONE = [
    "shutil.rmtree(output)\n",
    "shutil.rmtree(output)\nopen(output, 'w').close()\n",
    "shutil.rmtree(output)\nos.symlink('/etc', output)\n",
    "shutil.rmtree(output)\nos.symlink('/nothing/there', output)\n",
]


@pytest.mark.parametrize("change", GONE)
@pytest.mark.parametrize("program", [INGEST, SCORE])
def test_the_output_folder_comes_back(tiny: Path, run: Run, program: str, change: str) -> None:
    write_files(tiny, {program: START + change})
    ran = run()
    assert ran.code == 1
    assert "Status on Codabench: Failed" in ran.said
    for name in ("ingestion_output", "scoring_output"):
        assert (ran.out / name).is_dir()
        assert not (ran.out / name).is_symlink()
    assert program == SCORE or (ran.out / "ingestion_output" / "metadata").is_file()


def test_a_removed_output_is_told(tiny: Path, run: Run) -> None:
    kept = SCORING.replace("truth - found", "truth - 0.5").replace('found = float((source / "res"', '# (("')
    write_files(tiny, {INGEST: START + GONE[0], SCORE: kept})
    ran = run()
    assert ran.code == 0
    assert f"ingestion: it removed or replaced /app/output, {TAKEN}" in ran.said


@pytest.mark.parametrize("program", [INGEST, SCORE])
def test_a_name_that_is_not_utf8(tiny: Path, run: Run, program: str) -> None:
    write = "import os, sys\nopen(os.fsencode(sys.argv[2]) + b'/\\xff.html', 'w').write('x')\n"
    write_files(tiny, {program: write})
    ran = run()
    assert ran.code == 1
    assert "Status on Codabench: Failed" in ran.said
    assert program == SCORE or "expected file names in UTF-8, found '\\\\udcff.html'" in ran.error


def test_a_submission_with_such_a_name_is_refused(tiny: Path, run: Run) -> None:
    (tiny / "solutions" / "half" / "\udcff.txt").write_text("x")
    ran = run()
    assert ran.code == 1
    assert "half: expected file names in UTF-8" in ran.error


@pytest.mark.parametrize(
    "trick",
    [
        "os.mkfifo(path)\n",
        "os.symlink('/dev/zero', path)\n",
        "os.symlink('/etc/hostname', path)\n",
        "os.mkdir(path)\n",
        "os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 10**10)\n",
    ],
)
@pytest.mark.parametrize("name", ["scores.json", "scores.txt"])
def test_only_files_of_some_size_are_scores(tiny: Path, run: Run, name: str, trick: str) -> None:
    write_files(tiny, {SCORE: f"{START}path = output + '/{name}'\n{trick}"})
    ran = run()
    assert ran.code == 1
    assert "Status on Codabench: Failed" in ran.said
    assert f"{name}: expected" in ran.error


def test_a_bomb_in_scores_is_refused(tiny: Path, run: Run) -> None:
    bomb = "a: &a [1, 1]\n" + "".join(f"b{n}: &b{n} [*{'a' if not n else f'b{n - 1}'}, *a]\n" * 1 for n in range(3))
    bomb += "x: " + "1" + ":59" * 20_000
    write_files(tiny, {SCORE: f"{START}open(output + '/scores.txt', 'w').write({bomb!r})\n"})
    ran = run()
    assert ran.code == 1
    assert "scores.txt: expected readable scores, found: expected short numbers" in ran.error


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
