"""Two organisers give the same command at once: nothing is made twice, or the second is told what to do.

`meanwhile` lets the other one's whole command run between two requests of the first.
"""

from pathlib import Path

import pytest

from bundle_tools.cli import rehearse as rehearse_command
from bundle_tools.cli.main import main
from bundle_tools.codabench.server import publish as publishing
from bundle_tools.codabench.server.rehearse import RehearsalResult
from tests.codabench.server.conftest import SCORES, Bundle, Site
from tests.codabench.server.fake import PARTS, Server
from tests.tiny import write_files


def interrupt(server: Server, method: str, path: str, *words: object) -> list[int]:
    """Have the other organiser call `bundle server ...` before such a request arrives; return the codes of the ends."""
    codes: list[int] = []
    server.meanwhile = (method, path, lambda: codes.append(main(["server", *map(str, words)])))
    return codes


def test_two_competitions_of_one_zip_are_named(server: Server, bundle: Bundle, archive: Path) -> None:
    words = ("publish", server.address, "--bundle", archive, "--yes")
    codes = interrupt(server, "POST", "/api/datasets/$", *words)
    printed = bundle(*words, code=1)
    first, second = server.competitions
    addresses = [f"{server.address}/competitions/{number}/" for number in (first, second)]
    assert f"Keep {addresses[0]}, delete {addresses[1]} on the website" in printed
    assert printed.count("several competitions") == 1
    assert codes == [0]
    assert "delete" in bundle(*words, code=1)
    del server.competitions[second]
    next(data for data in server.data.values() if (data["competition"] or {}).get("id") == second)["competition"] = None
    assert "uploaded before" in bundle(*words)


@pytest.mark.parametrize("path", ["/storage/", "/completed/"])
@pytest.mark.parametrize("running_s", [0, 60])
def test_an_upload_is_left_alone_for_a_minute_and_then_gives_way(
    server: Server, bundle: Bundle, archive: Path, monkeypatch: pytest.MonkeyPatch, path: str, running_s: int
) -> None:
    monkeypatch.setattr(publishing, "RUNNING_S", running_s)
    words = ("publish", server.address, "--bundle", archive, "--yes")
    codes = interrupt(server, "PUT", path, *words)
    advice = "began" if running_s else "Another organiser may be uploading the same file"
    printed = bundle(*words, code=int(not running_s))
    assert codes == [int(running_s > 0)]
    assert advice in printed
    assert "epeat the command in a minute" in printed
    assert "uploaded before" in bundle(*words)
    assert len(server.competitions) == 1


class Replacing(Site):
    """Two organisers replace parts of the same phase."""

    def __init__(self, server: Server, archive: Path, bundle: Bundle, folder: Path) -> None:
        super().__init__(server, archive, bundle)
        labels = write_files(folder / "labels", {"labels.csv": "clip_id\nc001\n"})
        clips = write_files(folder / "clips", {"clips.csv": "clip_id\nc001\n"})
        words = ("replace", self.address, "--phase", "practice", "--yes")
        self.labels, self.clips = (*words, "--reference-data", labels), (*words, "--input-data", clips)


@pytest.fixture
def site(server: Server, archive: Path, bundle: Bundle, tmp_path: Path) -> Replacing:
    return Replacing(server, archive, bundle, tmp_path)


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/datasets/$"), ("PUT", "/storage/"), ("GET", "/tasks/")])
def test_parts_that_two_organisers_replace_are_both_there(site: Replacing, method: str, path: str) -> None:
    before = dict(site.task)
    codes = interrupt(site.server, method, path, *site.clips)
    site.bundle(*site.labels)
    assert codes == [0]
    changed = {part for part in PARTS if site.task[part] != before[part]}
    assert changed == {"input_data", "reference_data"}


@pytest.mark.parametrize("request_", [("POST", "/api/datasets/$"), ("PUT", "/storage/"), ("PUT", "/completed/")])
def test_a_part_is_stored_once(site: Replacing, request_: tuple[str, str]) -> None:
    codes = interrupt(site.server, *request_, *site.labels)
    assert "Repeat the command in a minute" in site.bundle(*site.labels, code=1)
    assert codes == [0]
    used = site.task["reference_data"]
    site.bundle(*site.labels)
    assert site.task["reference_data"] == used
    assert sum("reference_data " in data["name"] for data in site.server.data.values()) == 2 + 1  # of two phases


@pytest.mark.parametrize(
    "request_", [("POST", "/re_run_submission/"), ("DELETE", "/api/submissions/"), ("POST", "/download_many/")]
)
@pytest.mark.parametrize("action", ["replace", "rerun"])
def test_a_file_is_run_again_once(site: Replacing, request_: tuple[str, str], action: str) -> None:
    old = [site.submit("ann", 0.9), site.submit("bob", 0.3)]
    words: tuple[object, ...] = ("rerun", site.address, "--phase", "practice", "--yes", *old)
    if action == "replace":
        site.bundle(*site.labels, "--no-rerun")
        words = site.labels
    site.server.busy = True  # so that all runs of this test are still there to be counted
    codes = interrupt(site.server, *request_, *words)
    assert "0 submissions" not in site.bundle(*words)
    assert codes == [0]
    left = site.server.submissions
    assert not set(old) & left.keys()
    assert sorted(entry["owner"] for entry in left.values()) == ["ann", "bob"]


@pytest.mark.parametrize("is_first", [False, True])
def test_of_two_runs_again_the_first_stays(site: Replacing, *, is_first: bool) -> None:
    """Both have asked for a new run before either has looked at what the other did; each deletes only its own."""
    old = site.submit("ann")
    site.server.busy = True
    others: list[int] = []

    def run_again() -> None:
        entry = site.server.submissions[old]
        others.append(site.server.add_submission("ann", entry["phase"], entry["data"]))

    site.server.meanwhile = ("DELETE" if is_first else "POST", f"/{old}/", run_again)
    printed = site("rerun", old, "--yes")
    assert (f"deleted, as another organiser has run the same file again as #{others[0]}" in printed) != is_first
    assert len(site.server.submissions) == 1 + is_first
    assert others[0] in site.server.submissions


@pytest.mark.parametrize("request_", [("POST", "/api/submissions/$"), ("POST", "/api/datasets/$")])
def test_a_rehearsal_submits_once(site: Replacing, monkeypatch: pytest.MonkeyPatch, request_: tuple[str, str]) -> None:
    monkeypatch.setattr(rehearse_command, "_at_home", lambda *_: RehearsalResult("Finished", SCORES))
    words = ("rehearse", site.address, "--bundle", site.archive, "--phase", "practice", "--yes")
    codes = interrupt(site.server, *request_, *words)
    printed = site.bundle(*words)
    assert codes == [0]
    [number] = site.server.submissions
    assert f"deleted, as another organiser has submitted the same zip as #{number}" in printed
    assert f"(#{number}): every column as at home" in printed
