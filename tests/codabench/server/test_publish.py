"""A bundle becomes a competition, once, and what came of it is compared with what was written."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.codabench.server.conftest import COMPETITION, FILES, Bundle, Site, write_zip
from tests.codabench.server.fake import Fault, Json, Server


@pytest.fixture
def publish(server: Server, bundle: Bundle, archive: Path) -> Callable[..., str]:
    """Publish the bundle, or another file."""

    def call(path: Path = archive, *options: str, code: int = 0) -> str:
        return bundle("publish", server.address, "--bundle", path, *(options or ["--yes"]), code=code)

    return call


Publish = Callable[..., str]


def test_the_link_is_printed_and_the_same_zip_makes_nothing_again(
    server: Server, publish: Publish, archive: Path
) -> None:
    printed = publish()
    [made] = server.competitions.values()
    assert f"{server.address}/competitions/{made['id']}/?secret_key={made['secret_key']}" in printed
    assert "everything as written" in printed
    assert archive.read_bytes() in server.files.values()
    assert not [token for _, path, token in server.requests if path.startswith("/storage/") and token]
    server.requests.clear()
    assert "uploaded before" in publish()
    assert len(server.competitions) == 1
    assert {method for method, _, _ in server.requests} == {"GET"}


@pytest.mark.parametrize("written", ["2099-02-01", "2099-02-01 12:00:00", '"2099-02-01T12:00:00+02:00"'])
def test_dates_are_compared_as_the_server_keeps_them(publish: Publish, tmp_path: Path, written: str) -> None:
    text = COMPETITION.replace('"2099-02-01 12:00:00"', written)
    assert text != COMPETITION
    publish(write_zip(tmp_path / "b.zip", {**FILES, "competition.yaml": text.encode()}))


CHANGES: list[tuple[Callable[[Json], object], str]] = [
    (lambda made: made.update(title="Another"), "title: expected Tiny, found Another"),
    (lambda made: made["pages"].pop(), "page Overview: missing"),
    (lambda made: made["pages"][0].update(content="# Else"), "page Overview: its text"),
    (lambda made: made["phases"].pop(), "phases: expected 2, found 1"),
    (lambda made: made["phases"][0].update(end=None), "phase Practice, end: expected 2098-12-31"),
    (lambda made: made["phases"][1].update(hide_output=False), "phase Final, hide_output: expected True"),
    (lambda made: made["phases"][0].update(max_submissions_per_day=9), "_per_day: expected 5, found 9"),
    (lambda made: made["phases"][0].update(starting_kit=None), "phase Practice, starting_kit: missing"),
    (lambda made: made["phases"][0].update(solutions=[]), "phase Practice, solutions: expected half"),
    (lambda made: made["leaderboards"][0]["columns"].pop(), "column duration_s: missing"),
    (lambda made: made["leaderboards"][0]["columns"][0].update(sorting="asc"), "column accuracy, sorting"),
    (lambda made: made["leaderboards"][0]["columns"][1].update(index=7), "duration_s, index: expected 1, found 7"),
    (lambda made: made["leaderboards"][0].update(submission_rule="Add"), "submission_rule: expected Force_Best"),
    (lambda made: made.update(enable_detailed_results=False), "enable_detailed_results: expected True"),
    (lambda made: made.update(logo=None), "logo: missing"),
    (lambda made: made.update(terms=""), "terms: the text differs"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_what_arrived_otherwise_is_named(
    site: Site, publish: Publish, change: Callable[[Json], object], message: str
) -> None:
    change(site.made)
    printed = publish(code=1)
    assert message in printed
    assert "1 difference between the server and the bundle" in printed
    assert site.address in printed


def broken(server: Server, path: Path) -> None:
    write_zip(path, {name: data for name, data in FILES.items() if "reference" not in name})


REFUSALS: list[tuple[Callable[[Server, Path], object], str]] = [
    (broken, 'could not unpack the bundle: Cannot find dataset: "reference_data/" It deleted the upload'),
    (lambda server, _: setattr(server, "damage", lambda body: body[:-1] + b"?"), "changed during the upload"),
    (lambda server, _: setattr(server, "quota", 10), "/api/datasets/: status 400, data_file: Insufficient space"),
    (lambda _, path: path.write_bytes(b"no zip"), "expected a bundle"),
    (lambda _, path: path.write_bytes(b""), "expected a bundle"),
    (lambda _, path: path.unlink(), "found no such file"),
    (lambda _, path: path.write_bytes(path.read_bytes().replace(b"# Over", b"# Unde", 1)), "overview.md is damaged"),
]


@pytest.mark.parametrize(("change", "message"), REFUSALS)
def test_what_cannot_be_a_competition_is_told(
    server: Server, publish: Publish, archive: Path, change: Callable[[Server, Path], object], message: str
) -> None:
    change(server, archive)
    assert message in publish(code=1)
    assert not server.competitions


def test_an_upload_that_broke_off_is_not_repeated_blindly(server: Server, publish: Publish, archive: Path) -> None:
    server.faults = [Fault("PUT", "/completed/", None)]
    assert "It may have taken effect" in publish(code=1)
    [upload] = server.data.values()
    upload["file_size"] = float(archive.stat().st_size)  # it did
    assert "no competition exists yet" in publish(code=1)


@pytest.mark.parametrize("why", ["broke off", "competition deleted"])
def test_remains_of_an_earlier_call_are_removed(server: Server, publish: Publish, why: str) -> None:
    if why == "broke off":
        server.faults = [Fault("PUT", "/storage/", 403)]
        publish(code=1)
        assert "repeat the command in a minute" in publish(code=1)
        server.ahead += timedelta(minutes=1)
    else:
        publish()
        server.competitions.clear()
        next(one for one in server.data.values() if one["type"] == "competition_bundle")["competition"] = None
    publish()
    assert len(server.competitions) == 1


def test_storage_that_fails_twice_gets_the_file_in_the_end(server: Server, publish: Publish) -> None:
    server.faults = [Fault("PUT", "/storage/", 503), Fault("PUT", "/storage/", None)]
    publish()


def test_nothing_happens_without_a_yes(
    server: Server, publish: Publish, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = ("--bundle", str(archive))
    assert "Add --yes" in publish(archive, *bundle, code=1)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda: "n")
    assert "nothing was changed" in publish(archive, *bundle, code=1)
    assert {method for method, _, _ in server.requests} == {"GET"}
    monkeypatch.setattr("builtins.input", lambda: "y")
    publish(archive, *bundle)
