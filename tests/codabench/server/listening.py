"""HTTP in front of the small Codabench: its interface, its storage with signed addresses, its clock and its faults."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import format_datetime
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.codabench.server.codabench import Refused, Request, Server


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve on a free port of this machine."""
    handler = type("Handler", (_Handler,), {"state": server, "lock": threading.Lock()})
    with _Listening(("127.0.0.1", 0), handler) as listening:
        server.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


class _Listening(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Break the connection off without a word where a test has made an answer impossible."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    state: Server
    lock: threading.Lock

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        token = (self.headers.get("Authorization") or "").removeprefix("Token ") or None
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.lock:
            self.state.tick()
            self.state.requests.append((self.command, parts.path, token))
            faults = [one for one in self.state.faults if one.times and one.method == self.command]
            fault = next((one for one in faults if re.search(one.path, parts.path)), None)
            if fault is not None:
                fault.times -= 1
                if fault.status is None:
                    self.close_connection = True
                    return
                self._send(fault.status, b"<html>busy</html>", "text/html", {"Retry-After": "86400"})
                return
            self._answer(parts.path, {name: value[-1] for name, value in parse_qs(parts.query).items()}, token, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the names that the base class asks for

    def _answer(self, path: str, query: Mapping[str, str], token: str | None, body: bytes) -> None:
        state = self.state
        if path.startswith("/storage/"):
            self._storage(path.split("/")[2], query, body)
            return
        user = state.users.get(token) if token else None
        if path.startswith("/datasets/download/"):
            key = path.split("/")[3]
            opened = state.opens or state.data[key]["created_by"] == user
            target = f"{state.address}/storage/{key}/data.zip?Signature=s" if opened else "/accounts/login/?next=/"
            self._send(302, b"", "text/html", {"Location": target})
            return
        try:
            if self.headers.get("Cookie"):  # of a session, which then wants a token against forged requests
                raise Refused(403, {"detail": "CSRF Failed: CSRF token missing."})
            if token and user is None:
                raise Refused(403, {"detail": "Invalid token."})
            status, content = state.answer(path, Request(self.command, query, json.loads(body) if body else {}, user))
        except Refused as refused:
            status, content = refused.status, refused.content
        if isinstance(content, str):
            self._send(status, content.encode(), "text/html")
        else:
            self._send(
                status, b"" if content is None else json.dumps(content, default=list).encode(), "application/json"
            )

    def _storage(self, key: str, query: Mapping[str, str], body: bytes) -> None:
        if "Signature" not in query or self.headers.get("Authorization"):
            self._send(400, b"<Error>Only one auth mechanism allowed</Error>", "application/xml")
        elif self.command == "PUT":
            if self.headers.get("Content-Type") != "application/zip":
                self._send(403, b"<Error>SignatureDoesNotMatch</Error>", "application/xml")
                return
            arrived = self.state.damage(body)
            if not self.state.loses:
                self.state.files[key] = arrived
            tag = md5(arrived, usedforsecurity=False).hexdigest()
            self._send(200, b"", "application/xml", {"ETag": f'"{tag}"'})
        elif key in self.state.files:
            self._send(200, self.state.files[key], "application/zip")
        else:
            self._send(404, b"<Error>NoSuchKey</Error>", "application/xml")

    def _send(self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response_only(status)
        self.send_header("Date", format_datetime(self.state.now(), usegmt=True))
        self.send_header("Content-Type", kind)
        self.send_header("Set-Cookie", "sessionid=abc; Path=/")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
