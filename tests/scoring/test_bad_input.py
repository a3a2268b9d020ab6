"""Every bad input is named: where it is, what was found, and whose it is; all of them at once."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from score.pipeline import main
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case
from tests.scoring.spoil import Change, edit, edit_json, edit_lines, remove, swap, write


def swap_picture(root: Path) -> None:
    first, second, *_ = sorted((root / "res" / "images").iterdir())
    size = second.stat().st_size
    first.write_bytes((second.read_bytes() + bytes(size))[: first.stat().st_size])


def edit_label(line: int, column: int, value: str) -> Change:
    def change(text: str) -> str:
        rows = [row.split(",") for row in text.split()]
        rows[line - 1][column] = value
        return "\n".join(",".join(row) for row in rows) + "\n"

    return edit("ref/labels.csv", change)


LABELS = "ref/labels.csv"
SETTINGS = "ref/task.yaml"

# change, exit code, words of the message
TABLE: dict[str, tuple[Change, int, tuple[str, ...]]] = {
    "no settings": (lambda root: (root / SETTINGS).unlink(), 2, ("task.yaml", "no such file")),
    "settings are no YAML": (write(SETTINGS, "a: [\n"), 2, ("task.yaml", "line")),
    "settings are a list": (write(SETTINGS, "- 1\n"), 2, ("task.yaml", "a mapping")),
    "a key twice": (write(SETTINGS, "task: a\ntask: b\n"), 2, ("yaml, key task", "a duplicate key")),
    "an unknown key": (swap(SETTINGS, "main_target:", "colour: 1\nmain_target:"), 2, ("colour", "unknown key")),
    "main target": (swap(SETTINGS, "main_target: interview", "main_target: luck"), 2, ("main_target", "'luck'")),
    "truth without clips": (swap(SETTINGS, "clips: true", "clips: false"), 2, ("key report.truth",)),
    "range": (swap(SETTINGS, "maximum: 1.0", "maximum: 0.0"), 2, ("targets[0]", "minimum below maximum")),
    "no labels": (lambda root: (root / LABELS).unlink(), 2, ("labels_unreadable",)),
    "empty labels": (write(LABELS, ""), 2, ("labels.csv, line 1", "no column clip_id, source_id")),
    "labels, header only": (edit_lines(LABELS, lambda lines: lines[:1]), 2, ("labels_empty",)),
    "labels in Latin 1": (write(LABELS, b"clip_id,\xe9\n"), 2, ("labels_encoding", "byte 8")),
    "unknown column": (swap(LABELS, "openness", "opennes"), 2, ("'opennes'", "no column openness")),
    "short row": (edit_lines(LABELS, lambda lines: [*lines[:3], "c1,p,0.1\n", *lines[3:]]), 2, ("line 4", "3 cells")),
    "clip twice": (edit_lines(LABELS, lambda lines: [*lines, lines[1]]), 2, ("label_duplicate", "line 14", "line 2")),
    "label missing": (edit_label(3, 4, ""), 2, ("label_missing", "line 3, conscientiousness")),
    "label NaN": (edit_label(4, 2, "nan"), 2, ("label_not_a_number", "line 4, extraversion")),
    "label text": (edit_label(4, 2, "high"), 2, ("label_not_a_number", "line 4, extraversion")),
    "label out of range": (edit_label(5, 7, "1.5"), 2, ("label_out_of_range", "line 5, interview", "0 to 1")),
    "bad clip id": (edit_label(2, 0, "../c"), 2, ("labels_clip_id", "line 2")),
    "no source": (edit_label(2, 1, ""), 2, ("labels_source", "line 2")),
    "clip without label": (edit_lines(LABELS, lambda lines: lines[:-1]), 2, ("label_missing", "no row in labels.csv")),
    "other data": (swap("res/run.json", "test-1", "test-2"), 2, ("version_mismatch", "test-2")),
    "other task": (swap("res/run.json", '"practice"', '"final"'), 2, ("version_mismatch", "final")),
    "no run record": (remove("res/run.json"), 1, ("run.json", "a file that the manifest lacks")),
    "run record is no JSON": (write("res/run.json", "{"), 1, ("run.json", "not JSON")),
    "run record with NaN": (swap("res/run.json", "31.2", "NaN"), 1, ("run.json", "NaN")),
    "manifest is no JSON": (
        lambda root: (root / "res/manifest.json").write_text("[" * 99_999),
        1,
        ("manifest.json", "nesting that is too deep"),
    ),
    "changed after listing": (
        swap("res/predictions.csv", "clip_id", "clip_iD", relist=False),
        1,
        ("predictions.csv", "content that differs"),
    ),
    "a picture changed after listing": (swap_picture, 1, ("images/", "content that differs")),
    "longer than listed": (
        lambda root: (root / "res/log.txt").write_text("a longer log\n"),
        1,
        ("log.txt", "13 bytes instead of 6"),
    ),
    "listed but gone": (lambda root: (root / "res/log.txt").unlink(), 1, ("log.txt", "no regular file")),
    "no predictions": (remove("res/predictions.csv"), 1, ("predictions.csv", "a file that the manifest lacks")),
    "other columns": (swap("res/predictions.csv", "openness", "luck"), 1, ("predictions.csv, line 1",)),
    "prediction NaN": (
        edit_lines("res/predictions.csv", lambda lines: [*lines[:2], "cx,nan,0,0,0,0,0\n", *lines[2:]]),
        1,
        ("predictions.csv, line 3", "not finite"),
    ),
    "prediction out of range": (
        edit_lines("res/predictions.csv", lambda lines: [*lines[:2], "cx,1.2,0,0,0,0,0\n", *lines[2:]]),
        1,
        ("predictions.csv, line 3", "out of range"),
    ),
    "prediction twice": (
        edit_lines("res/predictions.csv", lambda lines: [*lines, lines[1]]),
        1,
        ("predictions.csv, line 14", "duplicate clip"),
    ),
    "record with two equal keys": (
        swap("res/clips.jsonl", '"status": "ok"', '"status": "failed", "status": "ok"'),
        1,
        ("clips.jsonl, line 1", "duplicate key"),
    ),
    "broken record in the middle": (
        edit_lines("res/clips.jsonl", lambda lines: ["{\n", *lines]),
        1,
        ("clips.jsonl, line 1", "not JSON"),
    ),
    "more predictions than clips": (
        edit_lines("res/predictions.csv", lambda lines: [*lines, *(f"z{n},0,0,0,0,0,0\n" for n in range(1036))]),
        1,
        ("predictions.csv", "1049 lines", "at most 1048"),
    ),
    "more explanations than clips": (
        edit_lines(
            "res/explanations.jsonl", lambda lines: [*lines, *(f'{{"clip_id": "z{n}"}}\n' for n in range(1037))]
        ),
        1,
        ("explanations.jsonl", "1049 lines", "at most 1048"),
    ),
    "more calls than clips have": (
        edit_lines("res/probes.jsonl", lambda lines: [*lines, *([lines[0].replace('"c', '"z')] * 3000)]),
        1,
        ("probes.jsonl", "at most 2536"),
    ),
    "unknown status": (swap("res/clips.jsonl", '"ok"', '"fine"'), 1, ("clips.jsonl, line 1", "status")),
}


@pytest.mark.parametrize("name", TABLE)
def test_is_named(score: Score, name: str) -> None:
    change, code, words = TABLE[name]
    done = score(make_case(), change)
    assert (done.code, (done.out / "scores.json").exists()) == (code, False), done.log
    for word in words:
        assert word in done.log
        assert word in done.page.replace("&#39;", "'")
    assert "Traceback" not in done.log
    assert str(done.out.parent) not in done.log + done.page


@pytest.mark.parametrize("left", [[], ["metadata"]])
def test_nothing_left_is_nobodys_low_score(score: Score, left: list[str]) -> None:
    def empty(root: Path) -> None:
        results = root / "res"
        for path in sorted(results.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name in left:
            (results / name).write_text("ingestionExitCode: 137\n")

    done = score(make_case(), empty)
    assert done.code == 1
    assert "The prediction step left no results." in done.log
    assert ("137" in done.page) == bool(left)


def test_no_results_folder(score: Score) -> None:
    done = score(make_case(), lambda root: (root / "res").rename(root / "elsewhere"))
    assert (done.code, "left no results" in done.page) == (1, True)


def test_an_organisers_error_is_not_the_participants(score: Score) -> None:
    done = score(make_case(), run_status("organiser_error", []))
    assert done.code == 2
    assert "The submission was not judged" in done.page


def run_status(status: str, problems: list[dict[str, Any]]) -> Change:
    def change(root: Path) -> None:
        for name in ("predictions.csv", "explanations.jsonl", "clips.jsonl"):
            (root / "res" / name).unlink()
        edit_json("res/run.json", lambda run: run.update(status=status, problems=problems))(root)

    return change


@pytest.mark.parametrize("name", ["predictions.csv", "explanations.jsonl", "clips.jsonl"])
def test_a_last_record_cut_off_costs_that_clip_alone(score: Score, name: str) -> None:
    whole = score(make_case()).scores

    done = score(make_case(), edit(f"res/{name}", lambda text: text[:-9]))
    assert done.code == 0, done.log
    assert done.scores["failed_clips"] == (0 if name == "explanations.jsonl" else 1)
    assert done.scores["coverage"] < whole["coverage"]
    assert f"{name}, line" in done.page


@pytest.mark.parametrize("kind", ["link", "directory link", "fifo"])
def test_special_files_are_refused_without_being_opened(score: Score, kind: str) -> None:
    def swap(root: Path) -> None:
        path = root / "res" / "log.txt"
        if kind == "directory link":
            (root / "res" / "images").rename(root / "pictures")
            (root / "res" / "images").symlink_to(root / "pictures")
            return
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        else:
            (root / "log.txt").write_text("a log\n")
            path.symlink_to(root / "log.txt")

    done = score(make_case(), swap)
    assert (done.code, "no regular file" in done.log) == (1, True)


@pytest.mark.parametrize(
    "name", ["../ref/labels.csv", "/etc/passwd", "images/../../ref/task.yaml", "a/b/c.txt", ".x", ""]
)
def test_unsafe_paths_are_refused(score: Score, name: str) -> None:
    def add(manifest: Any) -> None:  # noqa: ANN401 - JSON
        manifest["files"][name] = manifest["files"]["log.txt"]

    done = score(make_case(), edit_json("res/manifest.json", add))
    assert (done.code, "unsafe path" in done.log) == (1, True)
    assert f"manifest.json, {name}".strip() in done.log


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
        lambda text: text.replace("\r\n", "\n").rstrip("\n"),
        lambda text: text.replace("\r\n", "\n") + "\n\n",
    ],
)
def test_labels_from_any_editor_are_read(score: Score, dress: Callable[[str], str]) -> None:
    def change(root: Path) -> None:
        path = root / LABELS
        path.write_bytes(dress(path.read_bytes().decode()).encode())

    before = score(make_case()).scores
    assert score(make_case(), change).scores == before


def test_ids_that_look_like_numbers_stay_texts(score: Score) -> None:
    case = make_case(clips=4)
    case.clip_ids = ["1", "001", "1e0", "NA"]
    assert score(case).scores["failed_clips"] == 0


def test_a_reference_clip_that_was_not_run_counts_as_worst(score: Score) -> None:
    done = score(make_case(clips=4, statuses=["ok", "ok", "ok", "missing"]))
    assert done.scores["failed_clips"] == 1
    assert "clips_missing" in done.log


def test_all_clips_unreadable_is_the_organisers_fault(score: Score) -> None:
    assert score(make_case(clips=2, statuses=["unreadable"] * 2)).code == 2


def test_too_many_arguments() -> None:
    assert main(["a", "b", "c"]) == 2
