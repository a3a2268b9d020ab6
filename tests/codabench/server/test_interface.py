"""Requests: who asks, what is repeated, and what an error says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bundle_tools.codabench.server import client, records
from bundle_tools.codabench.server.client import Connection, ServerError, host_of
from bundle_tools.codabench.server.records import file_name_for, moment
from bundle_tools.errors import BundleError
from tests.codabench.server.codabench import Fault, Server
from tests.codabench.server.conftest import Bundle

SECRET = "7cbf52f6-1441-458c-9fa9-cfd009d2616b"  # noqa: S105 - of nothing


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://www.codabench.org", "https://www.codabench.org"),
        ("www.codabench.org/competitions/1/", "https://www.codabench.org"),
        ("http://user:pass@127.0.0.1:8000/x?y", "http://127.0.0.1:8000"),
    ],
)
def test_a_server_is_known_by_its_host(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize("address", ["ftp://x.org", "https://", ""])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(BundleError, match="expected the address of a server"):
        host_of(address)


def test_a_competition_is_known_by_what_the_browser_shows() -> None:
    place = records.Place.of(f"https://www.codabench.org/competitions/12/?secret_key={SECRET}#/pages-tab")
    assert (place.server, place.competition_id, place.secret_key) == ("https://www.codabench.org", 12, SECRET)
    assert records.Place.of("https://x.org/api/competitions/7/").secret_key is None
    with pytest.raises(BundleError, match="expected the address of a competition"):
        records.Place.of("https://x.org/12")
    with pytest.raises(BundleError, match="the whole secret link"):
        records.Place.of("https://x.org/competitions/12/?secret_key=abc")


@pytest.mark.parametrize(("method", "repeated"), [("get", True), ("post", False), ("patch", False), ("put", False)])
@pytest.mark.parametrize("status", [503, None])
def test_only_what_has_no_effect_is_repeated(
    server: Server, method: str, status: int | None, *, repeated: bool
) -> None:
    server.faults = [Fault(method.upper(), "/api/tasks/1/", status, times=2)]
    connection = Connection(server.address, "organiser-token")
    with pytest.raises(ServerError):
        connection.call(method.upper(), "/api/tasks/1/")
    assert len(server.requests) == (3 if repeated else 1)


def test_an_error_names_request_status_and_the_servers_words(server: Server) -> None:
    with pytest.raises(
        ServerError, match=r"GET /api/tasks/9/: status 404, No Task matches the given query\."
    ) as caught:
        Connection(server.address, "organiser-token").call("GET", "/api/tasks/9/")
    assert caught.value.status == 404
    with pytest.raises(
        ServerError, match=r"status 403, Invalid token\. Check that the token is right and from this server\."
    ):
        Connection(server.address, "wrong").call("GET", "/api/datasets/")


def test_a_wrong_secret_key(server: Server, competition: str, bundle: Bundle) -> None:
    server.users["organiser-token"] = "somebody else"
    printed = bundle("board", f"{competition}?secret_key={SECRET}", "--phase", "practice", code=1)
    assert "status 404, No Competition matches" in printed
    assert "needs its secret link" in printed


def test_a_page_of_an_error_is_not_shown(server: Server) -> None:
    with pytest.raises(ServerError, match="status 500") as caught:
        Connection(server.address, "organiser-token").call("GET", "/api/competitions/1/", secret_key="abc")  # noqa: S106
    assert "<html>" not in str(caught.value)


@pytest.mark.parametrize("token", ["", " ", "a€", "a\nb"])
def test_a_token_that_cannot_be_one_is_told(token: str) -> None:
    with pytest.raises(BundleError, match="expected a token"):
        Connection("https://x.org", token)


def test_a_page_in_the_place_of_json(server: Server) -> None:
    server.faults = [Fault("GET", "/api/tasks/1/", 200)]
    with pytest.raises(ServerError, match=r"expected JSON, found text/html\. Is .* a Codabench server\?"):
        Connection(server.address).call("GET", "/api/tasks/1/")


def test_an_answer_of_another_form(server: Server, competition: str, bundle: Bundle) -> None:
    del next(iter(server.competitions.values()))["phases"][0]["name"]
    printed = bundle("board", competition, "--phase", "practice", code=1)
    assert "an answer that this command cannot read (KeyError: 'name')" in printed


def test_no_server(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, archive: Path) -> None:
    monkeypatch.setenv("CODABENCH_TOKEN", "t")
    monkeypatch.setattr("bundle_tools.codabench.server.client.BACKOFF_S", 0.001)
    printed = bundle("publish", "http://127.0.0.1:1", "--bundle", archive, "--yes", code=1)
    assert "no answer from http://127.0.0.1:1 (connection refused)" in printed
    assert len(printed.strip().splitlines()) == 1


def test_lists_are_read_to_their_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(25):
        server.add_data("input_data", "ann")
    server.add_data("input_data", "bob")
    monkeypatch.setattr(records, "PAGE_SIZE", 10)
    assert len(records.datasets(Connection(server.address, "organiser-token"), search="input_data")) == 25


def test_the_token_is_asked_for_and_nowhere_printed(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODABENCH_TOKEN")
    printed = bundle("board", competition, "--phase", "practice", code=1)
    assert "expected the token of your account in CODABENCH_TOKEN" in printed
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "ann")
    monkeypatch.setattr(client, "getpass", lambda *_: "right")
    assert "organiser-token" not in bundle("board", competition, "--phase", "practice")
    monkeypatch.setattr(client, "getpass", lambda *_: "wrong")
    printed = bundle("board", competition, "--phase", "practice", code=1)
    assert "Unable to log in with provided credentials" in printed
    monkeypatch.setattr("builtins.input", lambda _: "")
    monkeypatch.setattr(client, "getpass", lambda *_: "organiser-token")
    bundle("board", competition, "--phase", "practice")


def test_a_netrc_does_not_take_the_tokens_place(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login mallory password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    bundle("board", competition, "--phase", "practice")
    assert {seen for _, _, seen in server.requests} == {"organiser-token"}


def test_times_are_utc_whatever_zone_they_name() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for text in ("2026-01-01T12:00:00", "2026-01-01T12:00:00Z", "2026-01-01T14:00:00+02:00"):
        assert moment(text) == noon


@pytest.mark.parametrize(
    ("stem", "name"),
    [("bundle", "bundle.zip"), ("a b/c", "a-b-c.zip"), ("x" * 90, "x" * 35 + ".zip"), ("Größe", "Größe.zip")],
)
def test_file_names_are_those_that_the_server_keeps(stem: str, name: str) -> None:
    assert file_name_for(stem) == name
