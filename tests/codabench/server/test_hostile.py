"""A server that answers anything: every command ends with one plain line, and its token goes nowhere else."""

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bundle_tools.codabench.server import client, records
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from tests.codabench.server.conftest import Bundle

LINE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MEGABYTE = bytes(1 << 20)


class Hostile:
    """Answers every request in one way, and keeps what it was asked."""

    def __init__(self, listening: socket.socket) -> None:
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.requests: list[bytes] = []
        self.pieces: Callable[[], Iterator[bytes]] = lambda: iter(())
        self.sent = 0
        """Bytes that somebody has taken."""

    def serve(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self.requests.append(connection.recv(1 << 16))
            for piece in self.pieces():
                connection.sendall(piece)
                self.sent += len(piece)


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Hostile]]:
    """Start servers; a large answer is one of a megabyte."""
    monkeypatch.setenv("CODABENCH_TOKEN", "organiser-token")
    monkeypatch.setattr(client, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(records, "LARGEST_FILE", 1 << 20)
    for name in ("BACKOFF_S", "PAUSE_S"):
        monkeypatch.setattr(client, name, 0.001)
    sockets = []

    def start() -> Hostile:
        listening = socket.create_server(("127.0.0.1", 0))
        sockets.append(listening)
        server = Hostile(listening)
        threading.Thread(target=server.serve, args=(listening,), daemon=True).start()
        return server

    yield start
    for listening in sockets:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def endless(head: bytes = LINE) -> Iterator[bytes]:
    yield head + b"\r\n"
    while True:
        yield MEGABYTE


def sized(body: bytes, *more: bytes) -> Iterator[bytes]:
    yield LINE + b"".join(line + b"\r\n" for line in more) + b"Content-Length: %d\r\n\r\n" % len(body) + body


BOMB = gzip.compress(bytes(200 << 20))
ANSWERS: dict[str, tuple[Callable[[], Iterator[bytes]], str]] = {
    "an endless body": (endless, "an answer of more than 1 MB"),
    "a body that unpacks to any size": (lambda: sized(BOMB, b"Content-Encoding: gzip"), "an answer of more than 1 MB"),
    "fewer bytes than it says": (lambda: iter([LINE + b"Content-Length: 900\r\n\r\n{}"]), "the answer broke off"),
    "broken chunks": (lambda: iter([LINE + b"Transfer-Encoding: chunked\r\n\r\nx\r\n"]), "the answer broke off"),
    "HTML": (lambda: sized(b"<html>log in</html>"), "expected JSON"),
    "endless brackets": (lambda: sized(b"[" * 100_000), "RecursionError"),
    "another kind of JSON": (lambda: sized(b'"text"'), "cannot read"),
    "nothing": (lambda: iter(()), "no answer from"),
    "no HTTP": (lambda: iter([b"\x00\xff" * 1000]), "no answer from"),
    "an endless head": (lambda: endless(LINE + b"X: "), "no answer from"),
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("action", ["fetch", "watch", "audit", "publish"])
def test_any_answer_ends_in_one_line(
    kind: str, action: str, hostile: Callable[[], Hostile], bundle: Bundle, archive: Path, tmp_path: Path
) -> None:
    server = hostile()
    server.pieces, said = ANSWERS[kind]
    words = {
        "fetch": ("--phase", "final", "--out", tmp_path / "out"),
        "watch": ("--phase", "final", "--once"),
        "publish": ("--bundle", archive, "--yes"),
    }
    where = server.address if action == "publish" else f"{server.address}/competitions/1/"
    printed = bundle(action, where, *words.get(action, ()), code=1)
    assert said in printed or (action, kind) == ("publish", "another kind of JSON")  # it looks at later answers only
    assert len(printed.splitlines()) <= 2
    assert server.sent < 200 << 20
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_to_another_host_is_not_followed(
    status: int, hostile: Callable[[], Hostile], bundle: Bundle
) -> None:
    server, other = hostile(), hostile()
    head = f"HTTP/1.1 {status} Moved\r\nLocation: {other.address}/api/\r\nContent-Length: 0\r\n\r\n".encode()
    server.pieces = lambda: iter([head])
    bundle("watch", f"{server.address}/competitions/1/", "--phase", "final", code=1)
    assert b"organiser-token" in server.requests[0]
    assert other.requests == []


def test_a_file_of_any_size_is_not_kept_and_its_address_gets_no_token(
    hostile: Callable[[], Hostile], tmp_path: Path
) -> None:
    server, other = hostile(), hostile()
    other.pieces = endless
    connection = ServerConnection(server.address, "organiser-token")
    with pytest.raises(ServerError, match="more than 0 GB"):
        records.download(connection, f"{other.address}/storage/x", tmp_path / "x.zip")
    with pytest.raises(ServerError, match="an answer of more than 1 MB"):
        connection.send_file(f"{other.address}/storage/x", b"content", {})
    assert [*tmp_path.iterdir()] == []
    assert not [request for request in other.requests if b"organiser-token" in request]
    assert other.sent < 200 << 20
