"""A running phase gets new parts, keeps the others, and no row of the old ones stays."""

from datetime import timedelta
from pathlib import Path

import pytest

from bundle_tools.codabench.server import replace
from tests.codabench.server.codabench import PARTS, Fault, Server
from tests.codabench.server.conftest import SCORES, Bundle, phase_of, submit


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "labels"
    folder.mkdir()
    (folder / "labels.csv").write_text("clip_id\nc001\n")
    return folder


def task_of(server: Server) -> dict[str, str]:
    task = server.tasks[phase_of(server)["tasks"][0]]
    return {part: task[part] for part in PARTS}


def test_one_part_changes_and_the_others_stay(server: Server, competition: str, bundle: Bundle, labels: Path) -> None:
    before = task_of(server)
    bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    after = task_of(server)
    assert {part for part in PARTS if before[part] != after[part]} == {"reference_data"}
    assert None not in after.values()
    made = server.data[after["reference_data"]]
    assert made["name"].startswith("Tiny, Practice: reference_data ")
    assert server.files[made["key"]].startswith(b"PK")


def test_every_old_run_is_run_again_once_and_deleted(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    old = [submit(server, "ann", 0.9), submit(server, "bob", 0.3), submit(server, "cyd", None, status="Failed")]
    twice = submit(server, "ann", 0.9, data=server.submissions[old[0]]["data"])
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    assert "3 submissions run again" in printed
    assert not {*old, twice} & server.submissions.keys()
    assert sorted(one["owner"] for one in server.submissions.values()) == ["ann", "bob", "cyd"]
    assert all(one["data"] in server.data for one in server.submissions.values())  # the files survive
    for _ in range(8):  # they run
        printed = bundle("board", competition, "--phase", "practice")
    assert "replaced" not in printed
    assert {one["scores"][0]["score"] for one in server.submissions.values()} == {f"{SCORES['accuracy']:.10f}"}


def test_calling_again_uploads_nothing_and_goes_on(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    old = [submit(server, name, 0.5) for name in ("ann", "bob", "cyd")]
    server.faults = [Fault("POST", f"/{old[1]}/re_run", 500)]
    arguments = ("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    printed = bundle(*arguments, code=1)
    assert f"#{old[1]} bob: POST /api/submissions/{old[1]}/re_run_submission/: status 500" in printed
    assert "continues with them" in printed
    server.requests.clear()
    assert "1 submission run again" in bundle(*arguments)
    made = {(method, path) for method, path, _ in server.requests}
    assert ("POST", "/api/datasets/") not in made
    assert "PUT" not in {method for method, _ in made}
    assert len(server.submissions) == 3


def test_a_run_whose_deletion_failed_is_not_run_twice(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    old = submit(server, "ann", 0.5)
    server.faults = [Fault("DELETE", f"/{old}/", 502)]
    arguments = ("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    bundle(*arguments, code=1)
    bundle(*arguments)
    assert len(server.submissions) == 1
    assert old not in server.submissions


def test_a_run_that_began_before_is_waited_for(server: Server, competition: str, bundle: Bundle, labels: Path) -> None:
    running = submit(server, "ann", None, status="Running", on_leaderboard=False)
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    assert "1 run started before the change: waiting" in printed
    assert running not in server.submissions
    assert len(server.submissions) == 1


def test_a_run_that_never_ends_is_not_waited_for_for_ever(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    running = submit(server, "ann", None, status="Running", on_leaderboard=False)
    server.busy = True
    words = ("--phase", "practice", "--reference-data", labels, "--wait", 1, "--yes")
    printed = bundle("replace", competition, *words, code=1)
    assert f"#{running} is still Running after 1 s. Repeat the command" in printed


def test_going_back_to_older_data_runs_what_came_between_again(
    server: Server, competition: str, bundle: Bundle, labels: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "labels.csv").write_text("clip_id\nc002\n")
    for folder in (labels, other, labels):
        old = submit(server, "ann", 0.5)
        words = ("--phase", "practice", "--reference-data", folder, "--yes")
        bundle("replace", competition, *words)
        assert old not in server.submissions
        for _ in range(8):
            bundle("board", competition, "--phase", "practice")


def test_parts_that_look_odd_are_named_first(server: Server, competition: str, bundle: Bundle, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.mkdir()
    (program / "metadata.yaml").write_text("command: x\n")
    words = ("--phase", "practice", "--scoring-program", program, "--input-data", program, "--yes")
    printed = bundle("replace", competition, *words)
    assert "WARNING: no seal.key in it" in printed
    assert "WARNING: expected task.yaml and clips.csv at its top" in printed


def test_a_full_queue_is_filled_bit_by_bit(
    server: Server, competition: str, bundle: Bundle, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replace, "AT_ONCE", 2)
    for number in range(5):
        submit(server, f"p{number}", 0.5)
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    assert printed.count("waiting for them") == 2


def test_without_a_rerun_submissions_stay(server: Server, competition: str, bundle: Bundle, labels: Path) -> None:
    old = submit(server, "ann", 0.5)
    words = ("--phase", "practice", "--reference-data", labels, "--no-rerun", "--yes")
    bundle("replace", competition, *words)
    assert list(server.submissions) == [old]
    assert "have been replaced" in bundle("board", competition, "--phase", "practice")


def test_a_program_needs_its_metadata_at_the_top(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    before = task_of(server)
    words = ("--phase", "practice", "--scoring-program", labels, "--ingestion-program", labels / "nothing", "--yes")
    printed = bundle("replace", competition, *words, code=1)
    assert "expected metadata.yaml at the top of a program" in printed
    assert "nothing: expected a folder or a zip" in printed
    assert task_of(server) == before


@pytest.mark.parametrize("fault", [Fault("POST", "/api/datasets/$", 400), Fault("PUT", "/storage/", 403)])
def test_a_refused_upload_leaves_the_task(
    server: Server, competition: str, bundle: Bundle, labels: Path, fault: Fault
) -> None:
    before = task_of(server)
    server.faults = [fault]
    bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes", code=1)
    assert task_of(server) == before


def test_an_upload_that_the_server_lost_is_noticed(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    before = task_of(server)
    server.damage = lambda _: b""
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes", code=1)
    assert "changed during the upload" in printed
    assert task_of(server) == before
    server.damage = bytes
    bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")


def test_a_file_that_the_storage_loses_is_noticed(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    before = task_of(server)
    server.loses = True
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes", code=1)
    assert "the server has 0 bytes" in printed
    assert task_of(server) == before


def test_a_server_that_changes_something_else_is_noticed(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    server.deaf_to = "input_data"
    printed = bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes", code=1)
    assert "the server has another input_data than was uploaded" in printed


def test_a_cancelled_run_stays_as_it_is(server: Server, competition: str, bundle: Bundle, labels: Path) -> None:
    number = submit(server, "ann", None, status="Cancelled", on_leaderboard=False)
    bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    assert list(server.submissions) == [number]


def test_a_run_of_the_very_second_of_the_change_is_run_again(
    server: Server, competition: str, bundle: Bundle, labels: Path
) -> None:
    server.frozen = server.now() + timedelta(hours=1)
    server.frozen = server.frozen.replace(microsecond=900_000)
    old = submit(server, "ann", 0.5)
    bundle("replace", competition, "--phase", "practice", "--reference-data", labels, "--yes")
    assert old not in server.submissions


def test_nothing_to_do_is_told(server: Server, competition: str, bundle: Bundle) -> None:
    assert "nothing to do" in bundle("replace", competition, "--phase", "practice", "--no-rerun", "--yes", code=1)
    assert "No submission ran on older parts" in bundle("replace", competition, "--phase", "practice", "--yes")
