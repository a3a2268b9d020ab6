"""Between the stages and in the organiser's data: each situation that is known to happen, and what it gets.

What else is broken about single files stands in test_bad_input.py, seals in test_seal.py, planted files in
test_planted.py.
"""

import errno
import io
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score import pipeline
from score.evaluate import evaluate
from score.report import write
from score.report.write import LARGEST_PAGE
from tests import ROOT
from tests.scoring.conftest import Score, run_scoring
from tests.scoring.factory import full_explanation, make_case, make_input
from tests.scoring.spoil import edit_json, swap

PROGRAM = ROOT / "scoring_program" / "scoring.py"
OUTPUT = {"detailed_results.html", "scores.json", "scores.txt"}


def start(source: Path, target: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401
    return subprocess.run(
        [sys.executable, PROGRAM, source, target], capture_output=True, timeout=600, check=False, **options
    )


@pytest.mark.parametrize("name", ["run.json", "manifest.json"])
@pytest.mark.parametrize(
    ("version", "code"), [(1, 2), (3, 2), (0, 2), (10**400, 2), ("2", 1), (True, 1), (None, 1), (2.0, 1)]
)
def test_another_format_is_the_organisers_fault_and_no_number_is_damage(
    score: Score, name: str, version: object, code: int
) -> None:
    done = score(make_case(clips=4), edit_json(f"res/{name}", lambda content: content.update(format_version=version)))
    assert (done.code, (done.out / "scores.json").exists()) == (code, False)
    assert (f"format_differs · {name}, format_version" in done.log) == (code == 2)
    assert name in done.log
    assert len(done.log) < 1000


def test_another_release_is_a_warning(score: Score) -> None:
    case = make_case(clips=4)
    before = score(case).scores
    done = score(case, swap("res/run.json", "0.1.0", "0.9.7"))
    assert (done.code, done.scores) == (0, before)
    assert "release_differs · run.json · found ingestion 0.9.7, scoring 0.1.0" in done.log


@pytest.mark.parametrize("name", ["predictions.csv", "clips.jsonl", "explanations.jsonl", "run.json"])
def test_two_runs_do_not_mix(score: Score, tmp_path: Path, name: str) -> None:
    """The manifest binds the files of one run by their hashes, and the seal binds the manifest."""
    first = make_case(seed=1)
    other = make_case(seed=1, prediction=1 - first.prediction, truth=first.truth)
    other.explain = lambda clip_id: full_explanation(clip_id) | {"text": "Another text that is long enough."}
    other.run, other.statuses = {"duration_s": 99.9}, ["failed", *other.statuses[1:]]
    make_input(tmp_path / "other", other)

    def mix(root: Path) -> None:
        (root / "res" / name).write_bytes((tmp_path / "other" / "res" / name).read_bytes())

    done = score(first, mix)
    assert (done.code, "results_damaged" in done.log) == (1, True)


def test_all_problems_of_the_organisers_files_come_at_once(score: Score) -> None:
    def spoil(root: Path) -> None:
        path = root / "ref" / "labels.csv"
        head, *rows = path.read_text().splitlines()
        cells = [row.split(",") for row in rows]
        cells[0][2], cells[1][3], cells[2][4], cells[3][1], cells[4][0] = "", "nan", "7", "", "a b"
        lines = [head, *map(",".join, cells), "short", rows[5]]
        path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())

    done = score(make_case(), spoil)
    assert done.code == 2
    for words in (
        *("label_missing · labels.csv, line 2, extraversion", "label_not_a_number · labels.csv, line 3, agreeableness"),
        *("label_out_of_range · labels.csv, line 4, conscientiousness", "labels_source · labels.csv, line 5"),
        *("labels_clip_id · labels.csv, line 6", "labels_row · labels.csv, line 10"),
    ):
        assert words in done.log
        assert words.split(" · ")[0] in done.page
    assert not (done.out / "scores.json").exists()


def test_infinity_is_no_duration(score: Score) -> None:
    done = score(make_case(clips=4), swap("res/run.json", "31.2", "1e999"))
    assert (done.code, "run_record_broken · run.json · found no duration_s" in done.log) == (1, True)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e30, 1e10])
def test_scores_that_no_leaderboard_takes_become_the_worst(
    score: Score, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    def strange(*arguments: Any) -> Any:  # noqa: ANN401
        evaluation = evaluate(*arguments)
        _, estimate = evaluation.columns[0]
        object.__setattr__(estimate, "value", value)
        return evaluation

    monkeypatch.setattr(pipeline, "evaluate", strange)
    done = score(make_case(clips=4))
    assert (done.code, done.scores["explanation"], done.scores["skill"]) == (0, 0, -1)
    assert "internal_error" in done.page
    assert "internal_error" in done.log


def test_a_score_file_that_is_not_what_was_written_is_taken_away(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    atomically = pipeline.write_atomically
    monkeypatch.setattr(pipeline, "write_atomically", lambda path, text: atomically(path, text.replace("0", "1")))
    done = score(make_case(clips=4))
    assert (done.code, (done.out / "scores.json").exists()) == (0, False)
    assert "internal_error · pipeline.py" in done.log


def heavy_case() -> Any:  # noqa: ANN401
    case = make_case(clips=30, report={"clips": True, "truth": True, "gallery": 30})
    case.probes = case.repeats = None
    noise = np.random.default_rng(1).random((1, 32, 32)).tolist()
    evidence = {"space": {"rows": 32, "columns": 32, "weights": noise}}
    case.explain = lambda clip_id: {"text": "&<>'" * 300, "image": None, "evidence": evidence}
    return case


def test_a_page_that_would_be_too_large_shows_fewer_explanations_and_says_so(
    score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = score(heavy_case())
    size = (done.out / "detailed_results.html").stat().st_size
    assert 250_000 < size <= LARGEST_PAGE
    monkeypatch.setattr(write, "LARGEST_PAGE", size - 1)
    smaller = score(heavy_case())
    assert len(smaller.page.encode()) < size
    assert "not all clips are shown" in smaller.page
    monkeypatch.setattr(write, "LARGEST_PAGE", 200_000)
    tiny = score(heavy_case())
    assert tiny.code == 0
    assert len(tiny.page.encode()) <= 200_000
    assert "target by target" in tiny.page


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "1", "TZ": "America/St_Johns"},
        pytest.param(
            {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "2", "PYTHONOPTIMIZE": "2"},
            marks=pytest.mark.slow,
        ),
        pytest.param({"LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"}, marks=pytest.mark.slow),
    ],
)
def test_locale_time_zone_and_hash_seed_change_no_byte(tmp_path: Path, environment: dict[str, str]) -> None:
    case = make_case(clips=4, statuses=["ok", "failed", "ok", "ok"])
    case.problems = {case.clip_ids[1]: [{"code": "größer", "stage": "predict", "found": "Ünïcödé İı 你好"}]}
    make_input(tmp_path / "input", case)
    done = start(tmp_path / "input", tmp_path / "output", env={"PATH": os.environ["PATH"], **environment})
    assert (done.returncode, done.stderr) == (0, b"")
    assert "größer" in done.stdout.decode()
    reference = run_scoring(tmp_path / "input", tmp_path / "reference")
    for name in OUTPUT:
        assert (tmp_path / "output" / name).read_bytes() == (reference.out / name).read_bytes()


@pytest.mark.parametrize("limit", [0, 1, 100, 5000, 20_000])
def test_a_full_disk_leaves_no_half_file(tmp_path: Path, limit: int) -> None:
    make_input(tmp_path / "input", make_case(report={"clips": True, "truth": True, "gallery": 0}))
    (tmp_path / "output").mkdir()

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))  # for this process, and for the next line alone
    try:
        done = run_scoring(tmp_path / "input", tmp_path / "output")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    page = len(run_scoring(tmp_path / "input", tmp_path / "reference").page.encode())
    assert page > limit
    assert done.code == 2
    assert done.log == "ERROR: reading or writing failed: File too large\n"
    assert list((tmp_path / "output").iterdir()) == []


def full_disk_after(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def failing(self: Path, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        stream = opened(self, *arguments, **options)
        if self.name == f".{name}.tmp":
            stream.write("half a f")
            stream.flush()

            class Full(io.StringIO):
                def write(self, text: str) -> int:
                    raise OSError(errno.ENOSPC, "0.6180339887")

            stream.close()
            return Full()
        return stream

    monkeypatch.setattr(Path, "open", failing)


@pytest.mark.parametrize("name", sorted(OUTPUT))
def test_a_disk_that_fills_up_at_any_file_leaves_whole_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make_input(tmp_path / "input", make_case(clips=4))
    with monkeypatch.context() as patch:
        full_disk_after(name, patch)
        done = run_scoring(tmp_path / "input", tmp_path / "output")
    assert done.code == 2
    assert done.log == "ERROR: reading or writing failed: No space left on device\n"
    whole = run_scoring(tmp_path / "input", tmp_path / "reference").out
    left = {path.name: path.read_bytes() for path in done.out.iterdir()}
    assert name not in left
    assert "scores.json" not in left
    assert left == {other: (whole / other).read_bytes() for other in left}


def test_writing_keeps_the_old_file_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores.txt"
    pipeline.write_atomically(path, "old")
    with monkeypatch.context() as patch:
        full_disk_after("scores.txt", patch)
        with pytest.raises(OSError, match="Errno 28"):
            pipeline.write_atomically(path, "new")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("scores.txt", "old")]


def test_a_planted_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".scores.json.tmp").symlink_to(tmp_path / "victim")
    (tmp_path / "victim").write_text("safe")
    pipeline.write_atomically(tmp_path / "scores.json", "{}")
    assert (tmp_path / "victim").read_text() == "safe"
    assert not (tmp_path / "scores.json").is_symlink()


def test_a_reader_of_the_log_who_leaves_costs_no_score(tmp_path: Path) -> None:
    make_input(tmp_path / "input", make_case(clips=4))
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path / "input", tmp_path / "output"], stdout=theirs, check=False, timeout=600
    )
    os.close(theirs)
    assert {path.name for path in (tmp_path / "output").iterdir()} == OUTPUT
    assert done.returncode == 0
