"""`bundle build`: only what belongs into a bundle, the same bytes each time, and nothing where there are errors."""

import hashlib
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from bundle_tools.build import shift_dates
from bundle_tools.check import check
from bundle_tools.cli import main

from .conftest import write_files


def build(tiny: Path, *options: str) -> tuple[int, Path]:
    out = tiny.parent / "dist" / "bundle.zip"
    return main(["build", "--bundle", str(tiny), "--out", str(out), "--training-clips", "0", *options]), out


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def test_the_same_input_gives_the_same_bytes(tiny: Path) -> None:
    assert build(tiny)[0] == 0
    first = hashlib.sha256(build(tiny)[1].read_bytes()).hexdigest()
    for path in tiny.rglob("*"):
        path.chmod(0o755)
        path.touch()
    assert hashlib.sha256(build(tiny)[1].read_bytes()).hexdigest() == first


def test_the_built_zip_is_valid_and_sorted(tiny: Path) -> None:
    _, out = build(tiny)
    assert check(out) == []
    assert names(out) == sorted(names(out))


def test_only_what_belongs_into_a_bundle_is_packed(tiny: Path) -> None:
    strangers = {
        "tests/test_secret.py": "x",
        "docs/notes.md": "x",
        ".git/config": "x",
        ".env": "x",
        "solutions/half/.DS_Store": "x",
        "scoring_program/__pycache__/score.cpython-311.pyc": "x",
        "input_data/practice/.cache/x": "x",
    }
    write_files(tiny, dict(strangers))
    (tiny / "solutions" / "half" / "link").symlink_to("/etc/hostname")
    _, out = build(tiny)
    packed = names(out)
    assert not set(strangers) & set(packed)
    assert "solutions/half/link" not in packed
    assert "competition.yaml" in packed
    assert "solutions/half/model.py" in packed


def test_the_kit_holds_programs_practice_data_and_solutions(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("execution_time_limit: 600", "starting_kit: starting_kit/"))
    write_files(
        tiny,
        {
            "starting_kit/README.md": "x",
            "reference_data/practice/task.yaml": "report: {truth: true}",
            "reference_data/final/answer.txt": "secret",
        },
    )
    code, out = build(tiny)
    assert code == 0
    kit = {name.removeprefix("starting_kit/") for name in names(out) if name.startswith("starting_kit/")}
    assert {"README.md", "ingestion_program/ingest.py", "scoring_program/score.py", "solutions/half/model.py"} <= kit
    assert {"input_data/practice/question.txt", "reference_data/practice/answer.txt"} <= kit
    assert not any("final" in name for name in kit)


def test_labels_that_are_not_public_keep_the_kit_from_being_built(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("execution_time_limit: 600", "starting_kit: starting_kit/"))
    write_files(tiny, {"starting_kit/README.md": "x"})
    code, out = build(tiny)
    assert code == 1
    assert not out.exists()
    assert "[leak]" in capsys.readouterr().out


def test_errors_keep_it_from_being_built(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tiny / "pages" / "terms.md").write_text("")
    code, out = build(tiny)
    assert code == 1
    assert not out.exists()
    captured = capsys.readouterr()
    assert "[page-empty]" in captured.out
    assert "Nothing was built" in captured.err


def test_start_moves_all_dates(tiny: Path) -> None:
    _, out = build(tiny, "--start", "2031-05-06 07:08:09")
    with zipfile.ZipFile(out) as opened:
        assert 'start: "2031-05-06 07:08:09"' in opened.read("competition.yaml").decode()


def test_lengths_and_gaps_stay() -> None:
    text = '  start: "2030-01-01 12:00:00"\n  end: "2030-01-31 12:00:00"\n  start: "2030-02-01 12:00:00"\n'
    moved = '  start: "2031-01-02 00:00:00"\n  end: "2031-02-01 00:00:00"\n  start: "2031-02-02 00:00:00"\n'
    assert shift_dates(text, datetime.fromisoformat("2031-01-02")) == moved
