"""The solutions are submitted once, and every column is held against a run of the same zip at home."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from bundle_tools.cli import rehearse as command
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.server import client
from bundle_tools.codabench.server import rehearse as rehearsing
from bundle_tools.codabench.server.rehearse import RehearsalResult, compare, missing_limits
from tests.codabench.server.conftest import FILES, SCORES, Bundle, Site, write_zip
from tests.codabench.server.fake import Server
from tests.tiny import FILES as TINY
from tests.tiny import write_files


class Rehearsal(Site):
    """A run at home comes to certain scores; one test makes such a run."""

    def rehearse(self, *words: object, phase: str = "practice", code: int = 0) -> str:
        return self("rehearse", "--bundle", self.archive, "--yes", *words, phase=phase, code=code)


@pytest.fixture
def site(server: Server, archive: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    monkeypatch.setattr(
        command, "_at_home", lambda *_: RehearsalResult("Finished", {"accuracy": 0.5, "duration_s": 9.9})
    )
    return Rehearsal(server, archive, bundle)


def test_every_column_is_compared_but_the_run_time(site: Rehearsal) -> None:
    site.made["phases"][0]["end"] = "2026-01-02T12:00:00Z"
    site.server.late_scores = 5
    printed = site.rehearse(phase="")
    assert printed.count("every column as at home") == 2
    phases = {site.phase(name)["id"] for name in ("Practice", "Final")}
    assert {one["phase"] for one in site.server.submissions.values()} == phases
    for status in ("Preparing", "Running", "Scoring", "Finished"):  # each once, though some repeat
        assert printed.count(f"Practice, half: {status}\n") == 1
    assert "Practice, half (ended 2026-01-02 12:00 UTC: the website takes nothing any more" in printed
    assert "Final, half (begins 2099-01-01 12:00 UTC: the website takes nothing yet" in printed


def test_what_a_phase_takes_no_more_is_left_for_another_day(site: Rehearsal, tmp_path: Path) -> None:
    names = ("one", "two", "three")
    chosen: list[object] = []
    for name in names:
        chosen += ["--submission", write_zip(tmp_path / f"{name}.zip", {"model.py": name.encode()})]
    site.phase()["max_submissions_per_day"] = 2
    printed = site.rehearse(*chosen, code=1)
    assert printed.count("every column as at home") == 2
    assert "Practice, three: the server takes no submission of this account now: Reached maximum" in printed
    assert "1 of 3 submissions were not made" in printed
    site.phase()["max_submissions_per_day"] = 4  # the next day
    printed = site.rehearse(*chosen)
    assert printed.count("of an earlier rehearsal") == 2
    assert printed.count("every column as at home") == 3
    assert len(site.server.submissions) == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"key: accuracy", b"key: error", "has the columns error, duration_s, and"),
        (b"name: Final", b"name: Second", "has the phases Practice, Second, and"),
    ],
)
def test_a_competition_is_rehearsed_with_its_own_bundle(
    site: Rehearsal, tmp_path: Path, old: bytes, new: bytes, message: str
) -> None:
    content = FILES["competition.yaml"].replace(old, new)
    other = write_zip(tmp_path / "other.zip", {**FILES, "competition.yaml": content})
    assert message in site("rehearse", "--bundle", other, "--yes", code=1)
    assert not site.server.submissions


def test_it_goes_on_with_an_earlier_rehearsal(site: Rehearsal) -> None:
    site.server.busy = True
    printed = site.rehearse("--wait", 1, code=1)
    assert "Practice, half (Submitting)" in printed
    assert "Repeat the command" in printed
    site.server.busy = False
    assert "of an earlier rehearsal" in site.rehearse()
    assert len(site.server.submissions) == 1


@pytest.mark.parametrize("why", ["other data", "Failed", "Cancelled"])
def test_a_rehearsal_that_says_nothing_any_more_is_repeated(site: Rehearsal, why: str) -> None:
    site.rehearse()
    if why == "other data":
        site.task["reference_data"] = site.server.add_data("reference_data", "ann")
    else:
        next(iter(site.server.submissions.values()))["status"] = why
    site.rehearse()
    assert len(site.server.submissions) == 2


@pytest.mark.parametrize(
    ("status", "scores", "message"),
    [
        ("Finished", {**SCORES, "accuracy": 0.4}, "accuracy: 0.5 here, 0.4 there"),
        ("Finished", {"duration_s": 3.2}, "accuracy: 0.5 here, nothing there"),
        ("Finished", {}, "Finished here, Finished without scores there"),
        ("Failed", {}, "Finished here, Failed there"),
    ],
)
@pytest.mark.parametrize("busy", [True, False, None])
def test_what_differs_is_named_and_a_busy_machine(
    site: Rehearsal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    status: str, scores: Mapping[str, float], message: str, busy: bool | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(rehearsing, "SCORES_LATE_S", 0.05)
    record = json.dumps({} if busy is None else {"processor": {"busy": busy}}).encode()
    output = write_zip(tmp_path / "output.zip", {"run.json": record}).read_bytes()
    site.server.outputs = lambda _: {"prediction_result": output}
    site.server.work = lambda _: (status, scores)
    printed = site.rehearse(code=1)
    assert message in printed
    assert ("the machine was busy" in printed) is (busy is True)


@pytest.mark.parametrize("container", [{"memory_mb": None, "network": True}, {"memory_mb": 9, "network": False}, None])
def test_limits_that_the_containers_lack_are_told_once(site: Rehearsal, tmp_path: Path, container: object) -> None:
    record = json.dumps({"container": container}).encode()
    output = write_zip(tmp_path / "output.zip", {"run.json": record}).read_bytes()
    site.server.outputs = lambda _: {"prediction_result": output}
    printed = site.rehearse(phase="")
    lacks = container == {"memory_mb": None, "network": True}
    assert printed.count("memory has no limit") == printed.count("the network is on") == lacks


def test_nobody_is_asked_more_often_than_every_five_seconds(
    site: Rehearsal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(client, "time", SimpleNamespace(sleep=pauses.append, monotonic=lambda: sum(pauses)))
    monkeypatch.setattr(client, "LOOK_S", 5.0)
    for name in ("one", "two", "three"):
        write_zip(tmp_path / f"{name}.zip", {"model.py": name.encode()})
    names = [f"{tmp_path}/{name}.zip" for name in ("one", "two", "three")]
    site.rehearse(*[word for name in names for word in ("--submission", name)], phase="")
    asked = [path for _, path, _ in site.server.requests if re.fullmatch(r"/api/submissions/\d+/", path)]
    assert len(set(asked)) == 6
    assert set(pauses) == {5.0}
    assert max(map(asked.count, asked)) <= len(pauses) + 1


@pytest.mark.parametrize("primary", [0, 2])
def test_columns_of_ranks_are_not_waited_for(
    server: Server, bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, primary: int
) -> None:
    """Servers since June 2026 compute them from all rows, so neither a submission nor a run at home has one."""
    column = (
        "      - {index: 2, key: rank, title: Rank, sorting: asc, computation: avg_rank, computation_indexes: [0]}\n"
    )
    text = FILES["competition.yaml"].decode().replace("Force_Best\n", f"Force_Best\n    primary_index: {primary}\n")
    files = {**FILES, "competition.yaml": (text + column).encode()}
    monkeypatch.setattr(command, "_at_home", lambda *_: RehearsalResult("Finished", SCORES))
    site = Rehearsal(server, write_zip(tmp_path / "ranks.zip", files), bundle)
    assert site.rehearse().count("every column as at home") == 1
    printed = site("watch")
    assert "bundle server" not in printed
    assert (" n/a" in printed) == bool(primary)


def test_other_submissions_can_be_named(site: Rehearsal) -> None:
    folder = write_files(site.archive.parent / "mine", {"model.py": "class Model: ...\n", "note.txt": "no zip"})
    site.rehearse("--submission", folder, "--submission", site.archive)
    assert len(site.server.submissions) == 2
    for name, message in (("note.txt", "expected the folder or the zip of a"), ("none", "expected a submission")):
        assert f"{name}: {message}" in site.rehearse("--submission", folder / name, code=1)


def test_a_limit_of_submissions_and_another_phase_are_told(site: Rehearsal) -> None:
    assert "expected one of Practice, Final; found 'nope'" in site.rehearse(phase="nope", code=1)
    site.made["phases"][0]["max_submissions_per_day"] = 0
    assert "Reached maximum allowed submissions" in site.rehearse(code=1)


def test_the_run_at_home_is_that_of_bundle_run(server: Server, bundle: Bundle, tmp_path: Path) -> None:
    """The whole way with programs of a few lines: at home they come to what the server is told."""
    zipped = tmp_path / "tiny.zip"
    zip_folder(write_files(tmp_path / "tiny", TINY), zipped)
    server.work = lambda _: ("Finished", {"accuracy": 1.0, "errors": 0})
    assert "every column as at home" in Rehearsal(server, zipped, bundle).rehearse()


def test_numbers_are_compared_as_the_server_keeps_them() -> None:
    at_home = RehearsalResult("Finished", {"a": 1 / 3, "b": 2.0})
    away = RehearsalResult("Finished", {"a": 0.3333333333, "b": 2.0000000001})
    assert compare(at_home, away, ["a", "b"]) == ["b: 2 here, 2.0000000001 there"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"memory_mb": None}, "MemoryMax"),
        ({"processes": None}, "TasksMax"),
        ({"network": True}, "COMPETITION_CONTAINER_NETWORK_DISABLED=True"),
        ({"network": None}, None),
        ({"shared_memory_mb": 24105}, "default-shm-size"),
        ({"shared_memory_mb": None}, None),
    ],
)
def test_each_missing_limit_of_the_worker_is_one_line(change: dict[str, object], message: str | None) -> None:
    lines = missing_limits({"memory_mb": 12288, "processes": 512, "shared_memory_mb": 64, "network": False, **change})
    assert len(lines) == (message is not None)
    assert message is None or message in lines[0]
    assert missing_limits({}) == []
