"""Files that ingestion did not write change no score; they are named, first those that pose as results."""

import os
from pathlib import Path

import pytest

from score.read.manifest import find_planted
from tests.deep import nested_folders
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case
from tests.scoring.pages import ALLOWED, HIDDEN, Page


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    return root


def test_own_files_are_not_planted(tmp_path: Path) -> None:
    assert find_planted(write(tmp_path, "run.json", "images/a.jpg"), {"run.json", "images/a.jpg"}).problems() == ()


def test_what_poses_as_results_comes_first(tmp_path: Path) -> None:
    innocent = [f"a{number:02}.txt" for number in range(12)]
    planted = find_planted(write(tmp_path, *innocent, "z/scores.json", "z/predictions.csv", "x.html", "y.pkl"), set())
    assert planted.count == 16
    assert planted.names == ("x.html", "y.pkl", "z/predictions.csv", "z/scores.json", *innocent[:6])
    (problem,) = planted.problems()
    assert problem.found.endswith("a05.txt and 6 more")
    assert (problem.severity, problem.code) == ("warning", "files_ignored")


def test_links_and_special_files_are_named_and_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "secret.txt")
    root = tmp_path / "res"
    root.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert find_planted(root, set()).names == ("folder", "loop", "pipe")


def test_a_tree_deeper_than_the_stack_is_walked(tmp_path: Path) -> None:
    with nested_folders(tmp_path, 1500):
        assert find_planted(tmp_path, set()).count == 1


def test_names_are_cut_and_made_visible(tmp_path: Path) -> None:
    (tmp_path / "a\u202e\nb").write_bytes(b"")
    (tmp_path / ("n" * 200)).write_bytes(b"")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")).write_bytes(b"")
    names = find_planted(tmp_path, set()).names
    assert names[0] == "a⟦U+202E⟧ b"
    assert len(names[1]) == 61
    assert names[2] == "⟦U+DCFF⟧⟦U+DCFE⟧"


@pytest.mark.parametrize("report", [HIDDEN, {"clips": True, "truth": True, "gallery": 2}], ids=["hidden", "open"])
def test_they_are_named_in_log_and_page_and_change_no_score(score: Score, report: dict[str, object]) -> None:
    case = make_case(report=report)
    before = score(case)
    assert "files_ignored" not in before.log + before.page
    scores = before.scores
    attack = "<img src=x onerror=alert(1)>.html"

    def plant(root: Path) -> None:
        write(root / "res", "scores.json", "sub/predictions.csv", attack)

    after = score(case, plant)
    assert (after.code, after.scores) == (0, scores)
    for name in ("scores.json", "sub/predictions.csv", "files_ignored"):
        assert name in after.log
        assert name in after.page
    assert "3, ignored" in after.page
    assert "For you:\n  - WARNING · files_ignored" in after.log
    parsed = Page(after.page)
    assert attack in parsed.text
    assert {tag for tag, _ in parsed.elements} <= ALLOWED


def test_they_are_named_when_ingestion_left_nothing_of_its_own(score: Score) -> None:
    def only_planted(root: Path) -> None:
        for path in sorted((root / "res").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        write(root / "res", "predictions.csv", "model.py")

    done = score(make_case(), only_planted)
    assert done.code == 1
    assert "2 files not written by ingestion: predictions.csv, model.py" in done.log
