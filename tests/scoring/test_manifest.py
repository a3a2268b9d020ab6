"""Files of the organiser: whatever editor wrote them they are read, and what is wrong with them has an end."""

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import score.pipeline
from ingest.record import seal
from score.errors import MOST_FOUND, OrganiserError
from score.read import tables
from score.read.manifest import find_unexpected, is_sealed, read_key
from score.read.reference import read_reference
from score.read.run import WorkerNotes, read_submission_metadata, read_worker_notes
from score.read.tables import FileReader
from score.settings import read_settings
from tests.deep import nested_folders
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case, make_input, recorded
from tests.scoring.pages import ALLOWED, HIDDEN, Page


def reader(path: Path) -> FileReader:
    return FileReader(path.name, "groups_broken")


def test_rows_keep_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'\xef\xbb\xbfa, b\r\n\r\n1,"2\r\n2"\r\n3, 4')
    file = reader(path)
    assert file.table(path) == [(1, ["a", "b"]), (4, ["1", "2\r\n2"]), (5, ["3", "4"])]
    file.finish("nothing is wrong")


@pytest.mark.parametrize(
    ("data", "found", "rows"),
    [
        (None, "FileNotFoundError", 0),
        (b"a\xff", "byte 1 is not UTF-8", 0),
        (b'a,b\n1,2\n"3', "broken quoting", 2),
        (b"a,b\n" * 30, "more than 0 MiB", 0),
    ],
)
def test_what_is_no_table_is_told_with_what_could_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes | None, found: str, rows: int
) -> None:
    monkeypatch.setattr(tables, "_LARGEST", 100)
    path = tmp_path / "table.csv"
    if data is not None:
        path.write_bytes(data)
    file = reader(path)
    assert len(file.table(path)) == rows
    with pytest.raises(OrganiserError) as raised:
        file.finish("It is wrong.")
    assert [problem.found for problem in raised.value.problems] == [found]


def test_labels_in_any_order_are_the_same_reference(tmp_path: Path) -> None:
    folder = make_input(tmp_path, make_case(clips=5)) / "ref"
    settings = read_settings(folder / "task.yaml")
    before = read_reference(folder / "labels.csv", settings)
    head, *rows = (folder / "labels.csv").read_text().split()
    (folder / "labels.csv").write_text("\n".join([head, *rows[::-1]]))
    after = read_reference(folder / "labels.csv", settings)
    assert list(before.clip_ids) == sorted(before.clip_ids)
    assert (before.clip_ids, before.source_ids, before.truth.tolist()) == (
        after.clip_ids,
        after.source_ids,
        after.truth.tolist(),
    )


def test_a_file_of_another_kind_is_not_read_to_its_end(tmp_path: Path) -> None:
    settings = read_settings(make_input(tmp_path, make_case(clips=2)) / "ref" / "task.yaml")
    path = tmp_path / "labels.csv"
    path.write_text(",".join(["clip_id", "source_id", *settings.names]) + "\n" + "rubbish\n" * 5000)
    with pytest.raises(OrganiserError) as raised:
        read_reference(path, settings)
    assert len(raised.value.problems) == MOST_FOUND


KEY = bytes(range(32))
OTHER = bytes(32)


@pytest.fixture
def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "program"
    program.mkdir()
    (program / "seal.key").write_text(KEY.hex() + "\n")
    monkeypatch.setattr(score.pipeline, "PROGRAM", program)
    return program


def sign(key: bytes, change: Callable[[dict[str, Any]], object] = lambda manifest: None) -> Callable[[Path], None]:
    """Seal the manifest as ingestion does, then change it."""

    def spoil(root: Path) -> None:
        path = root / "res" / "manifest.json"
        manifest = json.loads(path.read_text())
        del manifest["seal"]
        manifest["seal"] = seal(manifest, partial(hmac.digest, key, digest="sha256"))
        change(manifest)
        path.write_text(json.dumps(manifest))

    return spoil


def test_what_ingestion_seals_scoring_believes(keyed: Path, score: Score) -> None:
    done = score(make_case(clips=4), sign(KEY))
    assert done.code == 0
    assert "unsealed" not in done.page
    assert "sealed" in done.page
    assert KEY.hex() not in done.page + done.log


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: None,
        sign(OTHER),
        sign(KEY, lambda manifest: manifest.update(seal=None)),
        sign(KEY, lambda manifest: manifest.update(seal=3)),
        sign(KEY, lambda manifest: manifest.update(seal="\ud800")),
        sign(KEY, lambda manifest: manifest["files"].pop("log.txt")),
        sign(KEY, lambda manifest: manifest["files"]["predictions.csv"].update(bytes=1)),
        sign(KEY, lambda manifest: manifest.update(format_version=1)),
    ],
    ids=["no seal", "another key", "null", "a number", "a surrogate", "a file less", "another size", "a version"],
)
def test_anything_else_is_not_scored(keyed: Path, score: Score, spoil: Callable[[Path], object]) -> None:
    done = score(make_case(clips=4), spoil)
    assert done.code == 1
    assert "results_unsealed" in done.log
    assert "results_unsealed" in done.page
    assert not (done.out / "scores.json").exists()


def test_without_a_key_results_are_scored_and_called_unsealed(score: Score) -> None:
    assert "unsealed" in score(make_case(clips=4)).page
    assert score(make_case(clips=4), sign(OTHER)).code == 0


def test_a_damaged_key_is_the_organisers_fault(keyed: Path, score: Score) -> None:
    (keyed / "seal.key").write_text("no key")
    done = score(make_case(clips=4), sign(KEY))
    assert (done.code, "seal_key_broken" in done.log) == (2, True)
    with pytest.raises(OrganiserError):
        read_key(keyed)


def test_the_order_of_keys_does_not_matter() -> None:
    manifest = {"format_version": 1, "files": {"a": {"bytes": 1, "sha256": "00"}}}
    found = seal(manifest, partial(hmac.digest, KEY, digest="sha256"))
    shuffled = {"seal": found, "files": manifest["files"], "format_version": 1}
    assert is_sealed(shuffled, KEY)
    assert not is_sealed(shuffled, OTHER)


def file_lines(**files: bytes) -> dict[str, Any]:
    lines = [f"{hashlib.sha256(content).hexdigest()[:16]} {name}.py" for name, content in files.items()]
    return {"submission_files": lines}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("model.py", b"own", 0),
        ("copies/model.py", b"own", 0),
        ("notes.txt", b"nobody recorded such a name", 0),
        ("model.py", b"another", 1),
        ("copies/model.py", b"another", 1),
        ("helper.py", b"own", 1),
    ],
)
def test_a_sealed_record_does_not_fit_another_submission(
    keyed: Path, score: Score, name: str, content: bytes, code: int
) -> None:
    """Newer servers lay the submission beside the results: a zip with somebody's record and a model of its own."""
    case = make_case(clips=4)
    case.run = file_lines(model=b"own", helper=b"helps")

    def beside(root: Path) -> None:
        sign(KEY)(root)
        (root / "res" / name).parent.mkdir(exist_ok=True)
        (root / "res" / name).write_bytes(content)

    done = score(case, beside)
    assert done.code == code, done.log
    assert ("record_of_another" in done.log) == bool(code)


@pytest.mark.parametrize("over", [(), ("log.txt",), ("run.json", "predictions.csv"), ("manifest.json",)])
def test_both_ways_of_the_server_come_to_the_same_scores(keyed: Path, score: Score, over: tuple[str, ...]) -> None:
    """Since pull request 2303 the submission lies beside the results. Where its files win, nothing false is scored."""
    case = make_case(clips=4)
    case.run = file_lines(model=b"own", helper=b"helps")
    before = score(case, sign(KEY))

    def beside(root: Path) -> None:
        sign(KEY)(root)
        for name, content in {"model.py": b"own", "lib/helper.py": b"helps", **dict.fromkeys(over, b"x")}.items():
            (root / "res" / name).parent.mkdir(exist_ok=True)
            (root / "res" / name).write_bytes(content)

    after = score(case, beside)
    assert ("results_damaged" in after.log) == bool(over)
    assert after.code == bool(over)
    assert over or after.scores == before.scores
    assert "files_ignored" not in after.log + after.page


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    return root


def test_own_files_are_not_planted(tmp_path: Path) -> None:
    assert find_unexpected(write(tmp_path, "run.json", "images/a.jpg"), {"run.json", "images/a.jpg"}).problems() == ()


def test_what_poses_as_results_comes_first(tmp_path: Path) -> None:
    innocent = [f"a{number:02}.txt" for number in range(12)]
    planted = find_unexpected(
        write(tmp_path, *innocent, "z/scores.json", "z/predictions.csv", "x.html", "y.pkl"), set()
    )
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
    assert find_unexpected(root, set()).names == ("folder", "loop", "pipe")


def test_a_tree_deeper_than_the_stack_is_walked(tmp_path: Path) -> None:
    with nested_folders(tmp_path, 1100):
        assert find_unexpected(tmp_path, set()).count == 1


def test_names_are_cut_and_made_visible(tmp_path: Path) -> None:
    (tmp_path / "a\u202e\nb").write_bytes(b"")
    (tmp_path / ("n" * 200)).write_bytes(b"")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")).write_bytes(b"")
    names = find_unexpected(tmp_path, set()).names
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

    done = score(make_case(clips=4), only_planted)
    assert done.code == 1
    assert "2 files not written by ingestion: predictions.csv, model.py" in done.log


__all__ = ["keyed"]
# As Codabench 1.25 writes them, and CodaLab, version 1, for results.
ENDED = "elapsedTime: 31.2\nexitCode: {own}\ningestionElapsedTime: 31.2\ningestionExitCode: {ingestion}\n"
OLD = "elapsedTime: 0.02\nexitCode: 0\n"
RUBBISH = "ingestionElapsedTime: x\ningestionExitCode: x\n"
METADATA = """\
ref: https://store.example/reference.zip?signature=SECRET
res: https://store.example/results.zip?signature=SECRET
history: https://store.example/history.txt
submitted-by: ada.lovelace
submitted-at: 2026-11-22T09:30:00
competition-submission: 7
competition-phase: 2
automatic-submission: False
"""


def noted(own: object = "null", ingestion: object = 0, *, text: str = ENDED) -> Callable[[Path], object]:
    return lambda root: (root / "res" / "metadata").write_text(text.format(own=own, ingestion=ingestion))


@pytest.mark.parametrize(
    "spoil",
    [noted(), noted(ingestion=75), noted(text=OLD), noted(text="exitCode: 1\n"), noted(text="rubbish"), lambda _: None],
    ids=["ended well", "ended by its watchdog", "CodaLab", "of another form", "rubbish", "no notes"],
)
def test_a_record_that_fits_is_scored(keyed: Path, score: Score, spoil: Callable[[Path], object]) -> None:
    done = score(make_case(clips=4), lambda root: (sign(KEY)(root), spoil(root)))
    assert done.code == 0, done.log


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (noted(own=0), "own_command_ran"),
        (noted(own=1), "own_command_ran"),
        (noted(own=0, ingestion=1), "own_command_ran"),
        (noted(ingestion=1), "ingestion_failed"),
        (noted(ingestion=-9), "ingestion_failed"),
        (noted(ingestion="null"), "ingestion_failed"),
        (noted(ingestion=1, text=ENDED + RUBBISH), "ingestion_failed"),
    ],
)
def test_a_forged_record_is_not_scored_though_its_seal_is_right(
    keyed: Path, score: Score, spoil: Callable[[Path], object], code: str
) -> None:
    done = score(make_case(clips=4), lambda root: (sign(KEY)(root), spoil(root)))
    assert done.code == 1
    assert not (done.out / "scores.json").exists()
    assert code in done.log
    assert code in done.page


def test_results_that_nobody_ran_are_scored_where_nothing_is_sealed(score: Score) -> None:
    assert score(make_case(clips=4), noted(ingestion="null")).code == 0


def test_an_invalid_run_says_why_itself(score: Score) -> None:
    case = make_case(clips=4)
    case.run = {"status": "invalid", "problems": [recorded("metadata_present", "load")]}
    done = score(case, noted(own=0, ingestion=1))
    assert (done.code, "metadata_present" in done.log, "own_command_ran" in done.log) == (1, True, False)


def test_what_the_report_shows_of_them(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text(ENDED.format(own="null", ingestion=0))
    notes = read_worker_notes(tmp_path)
    assert notes.facts == (("Ingestion, by the worker's clock (s)", "31.2"), ("Ingestion's exit code", "0"))
    assert read_worker_notes(tmp_path / "nowhere") == WorkerNotes()


def test_the_page_shows_who_and_what_and_no_address(score: Score) -> None:
    outcome = score(make_case(clips=4), lambda root: (root / "metadata").write_text(METADATA))
    assert outcome.code == 0
    for shown in ("Submitted by", "ada.lovelace", "2026-11-22T09:30:00", "Moved from the phase before"):
        assert shown in outcome.page
    assert "SECRET" not in outcome.page + outcome.log
    assert "store.example" not in outcome.page + outcome.log


def test_without_it_nothing_is_shown(score: Score, tmp_path: Path) -> None:
    assert "Submitted by" not in score(make_case(clips=4)).page
    assert read_submission_metadata(tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("submitted-by: <b>x</b>\ncompetition-phase: 1", [("Number of the phase", "1")]),
        ("competition-phase: 1e9\nsubmitted-at: tomorrow\nautomatic-submission: yes", []),
        ("competition-submission: 12 \r\ncompetition-phase:3\r\n", [
            ("Number of the submission", "12"), ("Number of the phase", "3"),
        ]),
        ("submitted-by: " + "a" * 151, []),
        ("{{{\x00", []),
    ],
)  # fmt: skip
def test_only_values_of_the_right_form_are_believed(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    (tmp_path / "metadata").write_bytes(text.encode())
    assert list(read_submission_metadata(tmp_path)) == expected


def test_a_link_and_a_giant_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(METADATA)
    (tmp_path / "metadata").symlink_to(tmp_path / "elsewhere")
    assert read_submission_metadata(tmp_path) == ()
    (tmp_path / "metadata").unlink()
    (tmp_path / "metadata").write_text(METADATA + "#" * 70_000)
    assert read_submission_metadata(tmp_path) == ()
