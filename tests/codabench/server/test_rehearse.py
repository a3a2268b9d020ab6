"""The solutions are submitted once, and every column is held against a run of the same zip at home."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.cli.server import on_server
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.server.rehearse import Result, compare, missing_limits
from tests.codabench.server.codabench import Server
from tests.codabench.server.conftest import SCORES, Bundle, phase_of, write_zip
from tests.tiny import FILES as TINY
from tests.tiny import write_files


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run at home comes to; one test makes such a run."""
    monkeypatch.setattr(on_server, "_at_home", lambda *_: Result("Finished", {"accuracy": 0.5, "duration_s": 9.9}))


@pytest.mark.usefixtures("at_home")
def test_every_column_is_compared_but_the_run_time(
    server: Server, archive: Path, competition: str, bundle: Bundle
) -> None:
    printed = bundle("rehearse", competition, "--bundle", archive, "--yes")
    assert printed.count("every column as at home") == 2
    assert {one["phase"] for one in server.submissions.values()} == {
        phase_of(server, name)["id"] for name in ("Practice", "Final")
    }
    assert "Practice, half: Running" in printed


@pytest.mark.usefixtures("at_home")
def test_a_phase_that_is_closed_is_named(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    next(iter(server.competitions.values()))["phases"][0]["end"] = "2026-01-02T12:00:00Z"
    printed = bundle("rehearse", competition, "--bundle", archive, "--yes")
    assert "Practice, half (ended 2026-01-02 12:00 UTC: the website takes nothing any more" in printed
    assert "Final, half (begins 2099-01-01 12:00 UTC: the website takes nothing yet" in printed


@pytest.mark.usefixtures("at_home")
def test_it_goes_on_with_an_earlier_rehearsal(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    server.busy = True
    printed = bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes", "--wait", 1, code=1)
    assert "Practice, half (Submitting)" in printed
    assert "Repeat the command" in printed
    server.busy = False
    printed = bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes")
    assert "of an earlier rehearsal" in printed
    assert len(server.submissions) == 1


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("why", ["other data", "Failed", "Cancelled"])
def test_a_rehearsal_that_says_nothing_any_more_is_repeated(
    server: Server, archive: Path, competition: str, bundle: Bundle, why: str
) -> None:
    words = ("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes")
    bundle(*words)
    [first] = server.submissions.values()
    if why == "other data":
        server.tasks[phase_of(server)["tasks"][0]]["reference_data"] = server.add_data("reference_data", "ann")
    else:
        first["status"] = why
    bundle(*words)
    assert len(server.submissions) == 2


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize(
    ("status", "scores", "told"),
    [
        ("Finished", {**SCORES, "accuracy": 0.4}, "accuracy: 0.5 here, 0.4 there"),
        ("Finished", {"duration_s": 3.2}, "accuracy: 0.5 here, nothing there"),
        ("Finished", {}, "Finished here, Finished without scores there"),
        ("Failed", {}, "Finished here, Failed there"),
    ],
)
def test_what_differs_is_named(
    server: Server, archive: Path, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch,
    status: str, scores: Mapping[str, float], told: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("bundle_tools.codabench.server.rehearse.SCORES_LATE_S", 0.05)
    server.work = lambda _: (status, scores)
    assert told in bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes", code=1)


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("busy", [True, False, None])
def test_a_machine_that_was_busy_is_named(
    server: Server, archive: Path, competition: str, bundle: Bundle, tmp_path: Path, *, busy: bool | None
) -> None:
    record = json.dumps({"processor": {"busy": busy}} if busy is not None else {}).encode()
    output = write_zip(tmp_path / "output.zip", {"run.json": record}).read_bytes()
    server.outputs = lambda _: {"prediction_result": output}
    server.work = lambda _: ("Finished", {"accuracy": 0.4, "duration_s": 99.0})
    printed = bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes", code=1)
    assert ("the machine was busy" in printed) is (busy is True)


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("container", [{"memory_mb": None, "network": True}, {"memory_mb": 9, "network": False}, None])
def test_limits_that_the_containers_lack_are_told_once(
    server: Server, archive: Path, competition: str, bundle: Bundle, tmp_path: Path, container: object
) -> None:
    record = json.dumps({"container": container}).encode()
    output = write_zip(tmp_path / "output.zip", {"run.json": record}).read_bytes()
    server.outputs = lambda _: {"prediction_result": output}
    printed = bundle("rehearse", competition, "--bundle", archive, "--yes")
    assert printed.count("every column as at home") == 2
    lacks = container == {"memory_mb": None, "network": True}
    assert printed.count("memory has no limit") == printed.count("the network is on") == lacks


@pytest.mark.usefixtures("at_home")
def test_scores_that_come_after_finished_are_waited_for(
    server: Server, archive: Path, competition: str, bundle: Bundle
) -> None:
    server.late_scores = 5
    bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes")


@pytest.mark.usefixtures("at_home")
def test_other_submissions_can_be_named(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    folder = archive.parent / "mine"
    folder.mkdir()
    (folder / "model.py").write_text("class Model: ...\n")
    note = archive.parent / "note.txt"
    note.write_text("no zip")
    printed = bundle("rehearse", competition, "--submission", note, "--bundle", archive, "--yes", code=1)
    assert "note.txt: expected the folder or the zip of a submission" in printed
    words = ("--bundle", archive, "--phase", "practice", "--yes", "--submission", folder, "--submission", archive)
    bundle("rehearse", competition, *words)
    assert len(server.submissions) == 2
    printed = bundle("rehearse", competition, "--submission", folder / "none", "--bundle", archive, "--yes", code=1)
    assert "none: expected a submission" in printed


@pytest.mark.usefixtures("at_home")
def test_a_limit_of_submissions_is_told(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    [made] = server.competitions.values()
    made["phases"][0]["max_submissions_per_day"] = 0
    printed = bundle("rehearse", competition, "--bundle", archive, "--phase", "practice", "--yes", code=1)
    assert "Reached maximum allowed submissions" in printed


def test_a_bundle_without_its_phase_is_told(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    printed = bundle("rehearse", competition, "--bundle", archive, "--phase", "nope", "--yes", code=1)
    assert "expected one of Practice, Final; found 'nope'" in printed


def test_the_run_at_home_is_that_of_bundle_run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way with programs of a few lines: at home they come to what the server is told."""
    zipped = tmp_path / "tiny.zip"
    zip_folder(write_files(tmp_path / "tiny", TINY), zipped)
    assert main(["server", "publish", server.address, "--bundle", str(zipped), "--yes"]) == 0
    [made] = server.competitions
    address = f"{server.address}/competitions/{made}/"
    server.work = lambda _: ("Finished", {"accuracy": 1.0, "errors": 0})
    said: list[str] = []
    monkeypatch.setattr(on_server, "say", said.append)
    assert main(["server", "rehearse", address, "--bundle", str(zipped), "--yes"]) == 0, said


def test_numbers_are_compared_as_the_server_keeps_them() -> None:
    at_home, away = (
        Result("Finished", {"a": 1 / 3, "b": 2.0}),
        Result("Finished", {"a": 0.3333333333, "b": 2.0000000001}),
    )
    assert compare(at_home, away, ["a", "b"]) == ["b: 2 here, 2.0000000001 there"]


@pytest.mark.parametrize(
    ("change", "told"),
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
def test_each_missing_limit_of_the_worker_is_one_line(change: dict[str, object], told: str | None) -> None:
    lines = missing_limits({"memory_mb": 12288, "processes": 512, "shared_memory_mb": 64, "network": False, **change})
    assert len(lines) == (told is not None)
    assert told is None or told in lines[0]
    assert missing_limits({}) == []
