"""Requests: who asks, what is repeated, what an error says; and a server that answers nonsense, or too much."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bundle_tools.codabench.server import client, records
from bundle_tools.codabench.server.client import ServerConnection, ServerError, host_of
from bundle_tools.codabench.server.records import Address, file_name_for, moment
from bundle_tools.errors import BundleError
from tests.codabench.server.conftest import Bundle, Site
from tests.codabench.server.fake import Answer, Fault, Request, Server

SECRET = "7cbf52f6-1441-458c-9fa9-cfd009d2616b"  # noqa: S105 - of nothing


@pytest.fixture
def connection(server: Server) -> ServerConnection:
    return ServerConnection(server.address, "organiser-token")


@pytest.mark.parametrize(
    ("read", "text", "result"),
    [
        (host_of, "https://www.codabench.org", "https://www.codabench.org"),
        (host_of, "www.codabench.org/competitions/1/", "https://www.codabench.org"),
        (host_of, "http://user:pass@127.0.0.1:8000/x?y", "http://127.0.0.1:8000"),
        (Address.of, f"https://x.org/competitions/12/?secret_key={SECRET}#/tab", Address("https://x.org", 12, SECRET)),
        (Address.of, "https://x.org/api/competitions/7/", Address("https://x.org", 7, None)),
        (file_name_for, "a b/c", "a-b-c.zip"),
        (file_name_for, "x" * 90, "x" * 35 + ".zip"),
        (file_name_for, "Größe", "Größe.zip"),
        (moment, "2026-01-01T12:00:00", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        (moment, "2026-01-01T14:00:00+02:00", datetime(2026, 1, 1, 12, tzinfo=UTC)),
    ],
)
def test_addresses_names_and_times_are_read(read: Callable[[str], object], text: str, result: object) -> None:
    assert read(text) == result


HTTPS = "https://codabench.example"
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: host_of("ftp://x.org"), "expected the address of a server"),
    (lambda: host_of(""), "expected the address of a server"),
    (lambda: Address.of("https://x.org/12"), "expected the address of a competition"),
    (lambda: Address.of("https://x.org/competitions/12/?secret_key=abc"), "the whole secret link"),
    *((lambda token=token: ServerConnection(HTTPS, token), "expected a token") for token in ("", " ", "a€", "a\nb")),
    # Files of a safe server do not go over an unsafe line.
    (lambda: ServerConnection(HTTPS, "t").open("http://elsewhere.org/x"), "expected an https address"),
    (lambda: ServerConnection(HTTPS, "t").send_file("http://elsewhere.org/x", b"", {}), "expected an https address"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_asked(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BundleError, match=message):
        call()


@pytest.mark.parametrize(("method", "tries"), [("GET", 3), ("POST", 1), ("PATCH", 1), ("PUT", 1)])
@pytest.mark.parametrize("status", [503, None])
def test_only_what_has_no_effect_is_repeated(
    server: Server,
    connection: ServerConnection,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    status: int | None,
    tries: int,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", slept.append)
    server.faults = [Fault(method, "/api/tasks/1/", status, times=2)]
    with pytest.raises(ServerError):
        connection.call(method, "/api/tasks/1/")
    assert len(server.requests) == tries
    assert sum(slept) < 60  # although the server asked for a day of patience


@pytest.mark.parametrize(
    ("token", "path", "fault", "message"),
    [
        ("organiser-token", "/api/tasks/9/", None, r"GET /api/tasks/9/: status 404, No Task matches the given query\."),
        ("wrong", "/api/datasets/", None, r"403, Invalid token\. Check that the token is right and from this server\."),
        (None, "/api/competitions/1/?secret_key=abc", None, r"1/: status 500 \(Internal Server Error\)$"),
        (None, "/api/tasks/1/", 200, r"expected JSON, found text/html\. Is .* a Codabench server\?"),
    ],
)
def test_an_error_names_request_status_and_the_servers_words(
    server: Server, token: str | None, path: str, fault: int | None, message: str
) -> None:
    server.faults = [Fault("GET", path, fault)] if fault else []
    with pytest.raises(ServerError, match=message) as caught:
        ServerConnection(server.address, token).call("GET", path)
    assert str(caught.value.status) in f"{message} 200 403"


def test_lists_are_read_to_their_end(
    server: Server, connection: ServerConnection, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for _ in range(25):
        server.add_data("input_data", "ann")
    server.add_data("input_data", "bob")
    monkeypatch.setattr(records, "PAGE_SIZE", 10)
    assert len(records.datasets(connection, search="input_data")) == 25

    def endless(*_: object) -> Answer:
        return 200, {"results": [], "next": f"{server.address}/api/datasets/?page=2"}

    monkeypatch.setattr(Server, "_datasets", endless)
    monkeypatch.setattr(records, "MOST_PAGES", 5)
    with pytest.raises(ServerError, match="the list has no end"):
        records.datasets(connection)


def test_the_token_is_asked_for_and_goes_nowhere_else(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login mallory password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    site("watch")
    assert {token for _, _, token in site.server.requests} == {"organiser-token"}
    monkeypatch.delenv("CODABENCH_TOKEN")
    assert "expected the token of your account in CODABENCH_TOKEN" in site("watch", code=1)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for name, secret, code in (("ann", "right", 0), ("ann", "wrong", 1), ("", "organiser-token", 0)):
        monkeypatch.setattr("builtins.input", lambda _, name=name: name)
        monkeypatch.setattr(client, "getpass", lambda *_, secret=secret: secret)
        printed = site("watch", code=code)
        assert ("Unable to log in with provided credentials" in printed) == bool(code)


def test_who_is_no_organiser_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODABENCH_TOKEN", "other-token")
    printed = site.bundle("watch", f"{site.address}?secret_key={SECRET}", "--phase", "practice", code=1)
    assert "status 404, No Competition matches" in printed
    assert "needs its secret link" in printed
    site.made["published"] = True
    assert "is no organiser of it" in site("watch", code=1)


def test_no_server(bundle: Bundle, server: Server, archive: Path) -> None:
    printed = bundle("publish", "http://127.0.0.1:1", "--bundle", archive, "--yes", code=1)
    assert "no answer from http://127.0.0.1:1 (connection refused)" in printed
    assert len(printed.strip().splitlines()) == 1


def test_a_clock_that_is_off_is_told_once(site: Site) -> None:
    site.server.ahead = timedelta(hours=-3)
    assert site("watch").count("WARNING: the server's clock is 3.0 hours behind") == 1


NONSENSE: tuple[object, ...] = (None, [], {}, "x", -1, 10**400, [[[]]], [None], "../../x", "\ud800")


def test_answers_of_any_form_end_in_one_line_and_write_nothing_elsewhere(site: Site, tmp_path: Path) -> None:
    submission = site.server.submissions[site.submit("ann")]
    site.server.busy, site.server.frozen = True, site.server.now()
    before = set(tmp_path.iterdir())
    fetch = ("fetch", "--out", tmp_path / "f")
    for content, fields, words in (
        (site.made, ("id", "title", "published", "phases", "leaderboards", "secret_key"), ("watch",)),
        (submission, ("id", "owner", "filename", "created_when", "status", "scores", "status_details"), fetch),
    ):
        for field in fields:
            for value in NONSENSE:
                kept, content[field] = content[field], value
                printed = site(*words, code=None)  # no traceback
                content[field] = kept
                assert site.bundle.code == 0 or words[0] == "fetch" or len(printed.strip().splitlines()) == 1, field
    assert set(tmp_path.iterdir()) - before <= {tmp_path / "f"}
    del site.made["phases"][0]["name"]
    assert "an answer that this command cannot read (KeyError: 'name')" in site("watch", code=1)


@pytest.mark.parametrize("text", ["\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe", "a\rb"])
def test_nothing_that_a_server_says_moves_the_cursor(site: Site, text: str) -> None:
    site.made["title"] = f"Tiny {text}"
    site.submit(text)
    printed = site("watch")
    assert "Tiny" in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_answers_and_files_of_any_size_are_cut_off(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = site.submit("ann")
    site.server.outputs = lambda _: {"prediction_result": bytes(10_000)}
    monkeypatch.setattr(records, "LARGEST_FILE", 1000)
    assert "prediction_output.zip: more than" in site("fetch", "--out", tmp_path / "f", code=1)
    assert not (tmp_path / "f" / f"{number}-ann").exists()
    monkeypatch.setattr(client, "MOST_BYTES", 100)
    assert "an answer of more than" in site("watch", code=1)


def test_a_redirection_is_no_file(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.submit("ann")
    whole = Server._details

    def elsewhere(server: Server, ask: Request) -> Answer:
        status, content = whole(server, ask)
        target = f"{server.address}/datasets/download/{next(iter(server.data))}/"
        return status, {**content, "prediction_result": target}

    monkeypatch.setattr(Server, "_details", elsewhere)
    assert "status 302" in site("fetch", "--out", tmp_path / "f", code=1)
