"""A running phase gets new parts, keeps the others, and no row of the old ones stays."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bundle_tools.codabench.server import replace as replacing
from tests.codabench.server.conftest import FILES, SCORES, Bundle, Site, write_zip
from tests.codabench.server.fake import PARTS, Fault, Server
from tests.tiny import write_files


class Running(Site):
    """A competition whose labels are replaced."""

    labels: Path

    def replace(self, *words: object, labels: Path | None = None, code: int = 0) -> str:
        return self("replace", "--reference-data", labels or self.labels, "--yes", *words, code=code)

    def parts(self) -> dict[str, str]:
        return {part: self.task[part] for part in PARTS}


@pytest.fixture
def site(server: Server, archive: Path, bundle: Bundle, tmp_path: Path) -> Running:
    site = Running(server, archive, bundle)
    site.labels = write_files(tmp_path / "labels", {"labels.csv": "clip_id\nc001\n"})
    return site


def test_one_part_changes_and_the_others_stay(site: Running) -> None:
    before = site.parts()
    site.replace()
    after = site.parts()
    assert {part for part in PARTS if before[part] != after[part]} == {"reference_data"}
    assert None not in after.values()
    made = site.server.data[after["reference_data"]]
    assert made["name"].startswith("Tiny, Practice: reference_data ")
    assert site.server.files[made["key"]].startswith(b"PK")


def test_every_old_run_is_run_again_once_and_deleted(site: Running) -> None:
    submissions = site.server.submissions
    old = [site.submit("ann", 0.9), site.submit("bob", 0.3), site.submit("cyd", None, status="Failed")]
    twice = site.submit("ann", 0.9, data=submissions[old[0]]["data"])
    cancelled = site.submit("dan", None, status="Cancelled", on_leaderboard=False)
    assert "3 submissions run again" in site.replace()
    assert not {*old, twice} & submissions.keys()
    submissions.pop(cancelled)
    assert sorted(one["owner"] for one in submissions.values()) == ["ann", "bob", "cyd"]
    assert all(one["data"] in site.server.data for one in submissions.values())  # the files survive
    for _ in range(8):  # they run
        printed = site("watch")
    assert "replaced" not in printed
    assert {one["scores"][0]["score"] for one in submissions.values()} == {f"{SCORES['accuracy']:.10f}"}


def test_calling_again_uploads_nothing_and_goes_on(site: Running) -> None:
    old = [site.submit(name) for name in ("ann", "bob", "cyd")]
    site.server.faults = [Fault("POST", f"/{old[1]}/re_run", 500), Fault("DELETE", f"/{old[2]}/", 502)]
    printed = site.replace(code=1)
    assert f"#{old[1]} bob: POST /api/submissions/{old[1]}/re_run_submission/: status 500" in printed
    assert "continues with them" in printed
    site.server.requests.clear()
    assert "2 submissions run again" in site.replace()  # of one, only the deletion had failed
    made = {(method, path) for method, path, _ in site.server.requests}
    assert ("POST", "/api/datasets/") not in made
    assert "PUT" not in {method for method, _ in made}
    assert len(site.server.submissions) == 3
    assert not set(old) & site.server.submissions.keys()


@pytest.mark.parametrize("busy", [False, True])
def test_a_run_that_began_before_is_waited_for_but_not_for_ever(site: Running, busy: bool) -> None:
    running = site.submit("ann", None, status="Running", on_leaderboard=False)
    site.server.busy = busy
    printed = site.replace("--wait", 1, code=busy)
    assert "1 run started before the change: waiting" in printed
    assert (f"#{running} is still Running after 1 s. Repeat the command" in printed) == busy
    assert (running in site.server.submissions) == busy
    assert len(site.server.submissions) == 1


def test_going_back_to_older_data_runs_what_came_between_again(site: Running, tmp_path: Path) -> None:
    other = write_files(tmp_path / "other", {"labels.csv": "clip_id\nc002\n"})
    for folder in (site.labels, other, site.labels):
        old = site.submit("ann")
        site.replace(labels=folder)
        assert old not in site.server.submissions
        for _ in range(8):
            site("watch")


def test_a_run_of_the_very_second_of_the_change_is_run_again(site: Running) -> None:
    site.server.frozen = (site.server.now() + timedelta(hours=1)).replace(microsecond=900_000)
    old = site.submit("ann")
    site.replace()
    assert old not in site.server.submissions


def test_a_full_queue_is_filled_bit_by_bit(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "AT_ONCE", 2)
    for number in range(5):
        site.submit(f"p{number}")
    assert site.replace().count("waiting for them") == 2


def test_without_a_rerun_submissions_stay_and_without_a_part_nothing_is_left(site: Running) -> None:
    assert "nothing to do" in site("replace", "--no-rerun", "--yes", code=1)
    assert "No submission ran on older parts" in site("replace", "--yes")
    old = site.submit("ann")
    site.replace("--no-rerun")
    assert list(site.server.submissions) == [old]
    assert "of replaced parts" in site("watch")


REFUSALS: list[tuple[Callable[[Server], object], str]] = [
    (lambda server: server.faults.append(Fault("POST", "/api/datasets/$", 400)), "status 400"),
    (lambda server: server.faults.append(Fault("PUT", "/storage/", 403)), "status 403"),
    (lambda server: setattr(server, "damage", lambda _: b""), "changed during the upload"),
    (lambda server: setattr(server, "loses", True), "the server has 0 bytes"),
]


@pytest.mark.parametrize(("change", "message"), REFUSALS)
def test_a_failed_upload_leaves_the_task(site: Running, change: Callable[[Server], object], message: str) -> None:
    before = site.parts()
    change(site.server)
    assert message in site.replace(code=1)
    assert site.parts() == before
    site.server.damage, site.server.loses = bytes, False
    site.replace()


def test_a_server_that_changes_something_else_is_noticed(site: Running) -> None:
    site.server.deaf_to = "input_data"
    assert "the server has another input_data than was uploaded" in site.replace(code=1)


@pytest.mark.parametrize("stand_in", [True, False])
def test_all_parts_of_a_bundle_take_the_place_of_a_stand_in(site: Running, tmp_path: Path, *, stand_in: bool) -> None:
    before = site.parts()
    key = (b"0" * 16 if stand_in else b"1" * 16) + b"a" * 48 + b"\n"
    programs = {f"{program}/seal.key": key for program in ("ingestion_program", "scoring_program")}
    made = write_zip(tmp_path / "made.zip", {**FILES, **programs})
    printed = site("replace", "--bundle", made, "--yes", code=int(stand_in))
    assert ("built with --stand-in, so its key is not secret" in printed) == stand_in
    changed = {part for part in PARTS if before[part] != site.parts()[part]}
    assert changed == (set() if stand_in else set(PARTS))


def test_odd_parts_are_named_first_and_impossible_ones_refused(site: Running, tmp_path: Path) -> None:
    before = site.parts()
    words = ("replace", "--yes", "--scoring-program", site.labels, "--ingestion-program", site.labels / "nothing")
    printed = site(*words, code=1)
    assert "expected metadata.yaml at the top of a program" in printed
    assert "nothing: expected a folder or a zip" in printed
    assert site.parts() == before
    program = write_files(tmp_path / "program", {"metadata.yaml": "command: x\n"})
    printed = site("replace", "--yes", "--scoring-program", program, "--input-data", program)
    assert "WARNING: no seal.key in it" in printed
    assert "WARNING: expected task.yaml and clips.csv at its top" in printed
