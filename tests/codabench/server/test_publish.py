"""A bundle becomes a competition, once, and what came of it is compared with what was written."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.codabench.server.codabench import Fault, Server
from tests.codabench.server.conftest import COMPETITION, FILES, Bundle, write_zip


def test_the_link_is_printed_and_all_is_as_written(server: Server, archive: Path, bundle: Bundle) -> None:
    printed = bundle("publish", server.address, "--bundle", archive, "--yes")
    [made] = server.competitions.values()
    assert f"{server.address}/competitions/{made['id']}/?secret_key={made['secret_key']}" in printed
    assert "everything as written" in printed
    assert "organiser-token" not in printed


def test_the_same_zip_again_makes_nothing(server: Server, archive: Path, competition: str, bundle: Bundle) -> None:
    printed = bundle("publish", server.address, "--bundle", archive, "--yes")
    assert competition in printed
    assert "uploaded before" in printed
    assert len(server.competitions) == 1
    assert not [path for method, path, _ in server.requests if method != "GET"]


@pytest.mark.parametrize("written", ["2099-02-01", "2099-02-01 12:00:00", '"2099-02-01T12:00:00+02:00"'])
def test_dates_are_compared_as_the_server_keeps_them(
    server: Server, tmp_path: Path, bundle: Bundle, written: str
) -> None:
    text = COMPETITION.replace('"2099-02-01 12:00:00"', written)
    assert text != COMPETITION
    path = write_zip(tmp_path / "b.zip", {**FILES, "competition.yaml": text.encode()})
    bundle("publish", server.address, "--bundle", path, "--yes")


def test_storage_gets_the_file_and_no_token(server: Server, archive: Path, competition: str) -> None:
    assert competition
    assert archive.read_bytes() in server.files.values()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda made: made.update(title="Another"), "title: expected Tiny, found Another"),
        (lambda made: made["pages"].pop(), "page Overview: missing"),
        (lambda made: made["pages"][0].update(content="# Else"), "page Overview: its text"),
        (lambda made: made["phases"].pop(), "phases: expected 2, found 1"),
        (lambda made: made["phases"][0].update(end=None), "phase Practice, end: expected 2098-12-31"),
        (lambda made: made["phases"][1].update(hide_output=False), "phase Final, hide_output: expected True"),
        (lambda made: made["phases"][0].update(max_submissions_per_day=9), "_per_day: expected 5, found 9"),
        (lambda made: made["phases"][0].update(solutions=[]), "phase Practice, solutions: expected half"),
        (lambda made: made["leaderboards"][0]["columns"].pop(), "column duration_s: missing"),
        (lambda made: made["leaderboards"][0]["columns"][0].update(sorting="asc"), "column accuracy, sorting"),
        (lambda made: made["leaderboards"][0]["columns"][1].update(index=7), "duration_s, index: expected 1, found 7"),
        (lambda made: made["leaderboards"][0].update(submission_rule="Add"), "submission_rule: expected Force_Best"),
        (lambda made: made.update(enable_detailed_results=False), "enable_detailed_results: expected True"),
        (lambda made: made.update(logo=None), "logo: missing"),
        (lambda made: made.update(terms=""), "terms: the text differs"),
    ],
)  # fmt: skip
def test_what_arrived_otherwise_is_named(
    server: Server, archive: Path, competition: str, bundle: Bundle, change: object, told: str
) -> None:
    [made] = server.competitions.values()
    assert callable(change)
    change(made)
    printed = bundle("publish", server.address, "--bundle", archive, "--yes", code=1)
    assert told in printed
    assert "1 difference between the server and the bundle" in printed
    assert competition in printed


def test_the_servers_first_error_is_told_and_the_upload_is_gone(server: Server, tmp_path: Path, bundle: Bundle) -> None:
    broken = write_zip(tmp_path / "b.zip", {name: data for name, data in FILES.items() if "reference" not in name})
    printed = bundle("publish", server.address, "--bundle", broken, "--yes", code=1)
    assert 'Cannot find dataset: "reference_data/"' in printed
    assert "deleted the upload" in printed
    assert "competition_bundle" not in {one["type"] for one in server.data.values()}


def test_a_zip_that_is_changed_on_the_way_is_noticed(server: Server, archive: Path, bundle: Bundle) -> None:
    server.damage = lambda body: body[:-1] + b"?"
    assert "changed during the upload" in bundle("publish", server.address, "--bundle", archive, "--yes", code=1)
    assert not server.competitions


def test_a_full_quota_is_told_in_the_servers_words(server: Server, archive: Path, bundle: Bundle) -> None:
    server.quota = 10
    printed = bundle("publish", server.address, "--bundle", archive, "--yes", code=1)
    assert "POST /api/datasets/: status 400, data_file: Insufficient space" in printed


def test_an_upload_that_broke_off_is_not_repeated_blindly(server: Server, archive: Path, bundle: Bundle) -> None:
    server.faults = [Fault("PUT", "/completed/", None)]
    assert "It may have taken effect" in bundle("publish", server.address, "--bundle", archive, "--yes", code=1)
    [upload] = server.data.values()
    upload["file_size"] = float(archive.stat().st_size)  # it did
    assert "no competition exists yet" in bundle("publish", server.address, "--bundle", archive, "--yes", code=1)


@pytest.mark.parametrize("why", ["broke off", "competition deleted"])
def test_remains_of_an_earlier_call_are_removed(server: Server, archive: Path, bundle: Bundle, why: str) -> None:
    words = ("publish", server.address, "--bundle", archive, "--yes")
    if why == "broke off":
        server.faults = [Fault("PUT", "/storage/", 403)]
        bundle(*words, code=1)
    else:
        bundle(*words)
        server.competitions.clear()
        next(one for one in server.data.values() if one["type"] == "competition_bundle")["competition"] = None
    bundle(*words)
    assert len(server.competitions) == 1


def test_storage_that_fails_twice_gets_the_file_in_the_end(server: Server, archive: Path, bundle: Bundle) -> None:
    server.faults = [Fault("PUT", "/storage/", 503), Fault("PUT", "/storage/", None)]
    bundle("publish", server.address, "--bundle", archive, "--yes")


def test_nothing_happens_without_a_yes(
    server: Server, archive: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Add --yes" in bundle("publish", server.address, "--bundle", archive, code=1)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert "nothing was changed" in bundle("publish", server.address, "--bundle", archive, code=1)
    assert {method for method, _, _ in server.requests} == {"GET"}
    monkeypatch.setattr("builtins.input", lambda _: "y")
    bundle("publish", server.address, "--bundle", archive)


def test_a_clock_that_is_off_is_told_once(server: Server, archive: Path, bundle: Bundle) -> None:
    server.ahead = timedelta(hours=-3)
    printed = bundle("publish", server.address, "--bundle", archive, "--yes")
    assert printed.count("WARNING: the server's clock is 3.0 hours behind") == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"no zip", "expected a bundle"), (b"", "expected a bundle"), (None, "found no such file")],
)
def test_what_is_no_bundle_is_not_uploaded(
    server: Server, tmp_path: Path, bundle: Bundle, content: bytes | None, told: str
) -> None:
    path = tmp_path / "b.zip"
    if content is not None:
        path.write_bytes(content)
    assert told in bundle("publish", server.address, "--bundle", path, "--yes", code=1)
    assert not server.data


def test_a_damaged_zip_is_not_uploaded(server: Server, archive: Path, bundle: Bundle) -> None:
    archive.write_bytes(archive.read_bytes().replace(b"# Overview", b"# Overmind", 1))
    assert "pages/overview.md is damaged" in bundle("publish", server.address, "--bundle", archive, "--yes", code=1)
    assert not server.data
