"""Requests to one Codabench server: with a token, timeouts, retries of repeatable requests, and one-line errors."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from getpass import getpass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from bundle_tools.errors import BundleError

Result = TypeVar("Result")
VARIABLE, SECOND_VARIABLE = "CODABENCH_TOKEN", "CODABENCH_SECOND_TOKEN"
TIMEOUT_S = (10.0, 120.0)
"""Timeouts to connect, and between two pieces of an answer."""
RETRIES, BACKOFF_S = 4, 0.5
"""Repetitions of a request, and the pause before the second one; it doubles each time."""
BUSY = (429, 502, 503, 504)
"""Statuses of a busy server or proxy; requests without effect are then repeated."""
WITHOUT_EFFECT = ("GET", "HEAD")
TRIES, PAUSE_S = 3, 2.0
"""Attempts for files, which are sent and fetched whole, and the pause between them."""
LOOK_S = 5.0
"""Pause between two looks at something that takes its time."""
LONGEST_ANSWER = 300
"""Characters of the server's words in an error."""
MOST_BYTES = 64 << 20
"""Largest answer that is not a file."""
CLOCK_OFF_S = 300
HINTS = {
    401: " Check that the token is right and from this server.",
    403: " The account is not allowed to do this.",
    404: " Not found, or hidden from this account; an unpublished competition needs its secret link.",
}
CAUSES = {
    "Name or service not known": "no such host",
    "nodename nor servname": "no such host",
    "Temporary failure in name resolution": "no such host, or no network",
    "Connection refused": "connection refused",
    "too many": "it stays busy",
}
"""Part of an error's text -> why there was no answer."""


class ServerError(BundleError):
    """A request that failed: names the request, the status and the server's own words."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; None if there was no answer."""


class _Token(requests.auth.AuthBase):
    """Adds the token to a request; as an object, so that no `.netrc` replaces it."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Token {self._token}"
        return request


class ServerConnection:
    """Connection to one server, by one account or without login."""

    def __init__(self, address: str, token: str | None = None) -> None:
        """Open no connection yet.

        `address`: such as `https://www.codabench.org`; what follows the host is ignored. `token`: the account's token;
        None asks as somebody who is not logged in. Raises BundleError if the address or the token is invalid.
        """
        self.address = host_of(address)
        if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
            raise BundleError("expected a token of letters and digits, found none.")
        self._token = _Token(token)
        self._session = requests.Session()
        # A session cookie would replace the token.
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        retry = Retry(
            total=RETRIES, status_forcelist=BUSY, allowed_methods=WITHOUT_EFFECT, backoff_factor=BACKOFF_S,
            raise_on_status=False, respect_retry_after_header=False,
        )  # fmt: skip
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=8))
        self._clock_checked = False
        self.server_time: datetime | None = None
        """When the server gave its last answer, by its own clock."""

    def call(self, method: str, path: str, content: object = None, **query: object) -> Any:  # noqa: ANN401 - JSON
        """Send a request to the interface, and return the answer's JSON; None if it is empty.

        Only a GET is repeated if the server is busy or the connection breaks: others may have taken effect.
        """
        answer = self._send(method, path, auth=self._token, stream=True, json=content, params=query)
        request = f"{method} {path.partition('?')[0]}"
        text = self._read(answer, request)
        if not is_good(answer):
            raise ServerError(f"{request}: {_words(answer, text)}", answer.status_code)
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise ServerError(
                f"{request}: expected JSON, found {answer.headers.get('Content-Type', 'none')}. "
                f"Is {self.address} a Codabench server?",
                answer.status_code,
            ) from None

    def open(self, url: str, *, with_token: bool = False) -> requests.Response:
        """Begin to read a file; the caller closes the answer. Signed addresses get no token.

        Raises ServerError if there is no answer; the caller must check the status.
        """
        headers = {"Accept-Encoding": "identity"}  # compressed data could unpack to any size
        token = self._token if with_token else _Token(None)
        return self._send("GET", self._encrypted(url), stream=True, headers=headers, auth=token)

    def send_file(self, url: str, body: Any, headers: Mapping[str, str]) -> str:  # noqa: ANN401 - a file
        """Put a file at a signed address, without the token.

        Returns MD5 of the received bytes; empty if the storage does not report it. Raises ServerError if there is no
        answer, or it is not a success.
        """
        answer = self._send(
            "PUT", self._encrypted(url), data=body, headers=dict(headers), auth=_Token(None), stream=True
        )
        text = self._read(answer, "PUT of the file")
        if not is_good(answer):
            raise ServerError(f"PUT of the file: {_words(answer, text)}", answer.status_code)
        tag = answer.headers.get("ETag", "").strip('"')
        # For encrypted files, it is something else.
        plain = re.fullmatch(r"[0-9a-f]{32}", tag) and "x-amz-server-side-encryption" not in answer.headers
        return tag if plain else ""

    def _encrypted(self, url: str) -> str:
        """Check a signed address: private files never travel unencrypted."""
        if self.address.startswith("https://") and not url.startswith("https://"):
            raise ServerError(f"{host_of(url)}: expected an https address for a file of {self.address}.")
        return url

    def _read(self, answer: requests.Response, request: str) -> bytes:
        """Read a whole answer of limited size."""
        content = bytearray()
        try:
            with answer:
                for piece in answer.iter_content(1 << 16):
                    content += piece
                    if len(content) > MOST_BYTES:
                        limit = f"an answer of more than {MOST_BYTES >> 20} MB"
                        raise ServerError(f"{request}: {limit}. Is this a Codabench server?")
        except requests.RequestException as error:
            raise ServerError(f"{request}: the answer broke off ({type(error).__name__}).") from None
        return bytes(content)

    def _send(self, method: str, path: str, **options: Any) -> requests.Response:  # noqa: ANN401 - of requests
        url = path if "://" in path else self.address + path
        try:
            answer = self._session.request(method, url, timeout=TIMEOUT_S, allow_redirects=False, **options)
        except requests.RequestException as error:
            warning = "" if method in WITHOUT_EFFECT else " It may have taken effect: look before you repeat it."
            request = f"{method} {path.partition('?')[0]}"  # without the secrets of a signed address
            raise ServerError(f"{request}: no answer from {self.address} ({_cause(error)}).{warning}") from None
        if answer.url.startswith(self.address):
            self._read_clock(answer)
        return answer

    def _read_clock(self, answer: requests.Response) -> None:
        """Warn once if the server's clock is off: dates of phases follow it."""
        try:
            self.server_time = parsedate_to_datetime(answer.headers["Date"]).astimezone(UTC)
        except (KeyError, ValueError):
            return
        ahead_s = (self.server_time - datetime.now(UTC)).total_seconds()
        if abs(ahead_s) > CLOCK_OFF_S and not self._clock_checked:
            way = "ahead of" if ahead_s > 0 else "behind"
            sys.stderr.write(
                f"WARNING: the server's clock is {abs(ahead_s) / 3600:.1f} hours {way} this machine's. "
                "Phases follow the server's clock.\n"
            )
        self._clock_checked = True


def host_of(address: str) -> str:
    """Return scheme and host of an address.

    Raises BundleError if there is none.
    """
    parts = urlsplit(address if "://" in address else f"https://{address}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BundleError(f"{address}: expected the address of a server, such as https://www.codabench.org.")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def log_in(address: str) -> ServerConnection:
    """Connect as the organiser, with a token from the environment or typed in; it is never stored or printed.

    Raises BundleError if there is no token and no terminal, or if the server refuses name and password.
    """
    connection = ServerConnection(
        address, os.environ.get(VARIABLE, "").strip() or _ask_for_token(ServerConnection(address))
    )
    local = urlsplit(connection.address).hostname in {"localhost", "127.0.0.1", "::1"}
    if connection.address.startswith("http://") and not local:
        sys.stderr.write(f"WARNING: {connection.address} is not https: others on the network can read the token.\n")
    return connection


def _ask_for_token(server: ServerConnection) -> str:
    if not sys.stdin.isatty():
        raise BundleError(
            f"expected the token of your account in {VARIABLE}, found none. Get it from the server: "
            f"curl -d username=NAME -d password=PASSWORD {server.address}/api/api-token-auth/"
        )
    sys.stderr.write(f"Log in at {server.address} (nothing is stored; set {VARIABLE} to skip this question).\n")
    name = input("User name (empty to give a token): ").strip()
    if not name:
        return getpass("Token: ").strip()
    try:
        answer = server.call("POST", "/api/api-token-auth/", {"username": name, "password": getpass()})
    except ServerError as error:
        raise BundleError(f"{error} Accounts made through another site have no password: use a token.") from None
    return str(answer["token"])


def try_again(action: Callable[[], Result]) -> Result:
    """Run a repeatable request, again if the connection breaks or the server fails, at most `TRIES` times.

    Raises ServerError: the last error, or the first that a repetition cannot change.
    """
    for _ in range(TRIES - 1):
        try:
            return action()
        except ServerError as error:
            if error.status is not None and error.status < 500:
                raise
            time.sleep(PAUSE_S)
    return action()


def looks(limit_s: float) -> Iterator[None]:
    """Yield at once, and then after each pause until the limit is over."""
    began = time.monotonic()
    yield
    while time.monotonic() - began <= limit_s:
        time.sleep(LOOK_S)
        yield


def is_good(answer: requests.Response) -> bool:
    """Return whether a request succeeded; a redirection does not count."""
    return 200 <= answer.status_code < 300


def _words(answer: requests.Response, content: bytes) -> str:
    """Return the status and the server's message in one line."""
    text = content.decode("utf-8", "replace")
    try:
        message = _flat(json.loads(text))
    except ValueError:
        # An HTML page for browsers does not help.
        message = "" if "<html" in text[:1000].lower() else text
    message = " ".join(message.split())[:LONGEST_ANSWER]
    about_token = answer.status_code == 403 and "token" in message.lower()
    hint = HINTS.get(401 if about_token else answer.status_code, "")
    return f"status {answer.status_code}" + (f", {message}" if message else f" ({answer.reason})") + hint


def _flat(content: object) -> str:
    if isinstance(content, dict):
        bare = {"detail", "error", "error_msg", "non_field_errors"}
        return "; ".join(_flat(value) if key in bare else f"{key}: {_flat(value)}" for key, value in content.items())
    if isinstance(content, list):
        return ", ".join(map(_flat, content))
    return content if isinstance(content, str) else json.dumps(content)


def _cause(error: requests.RequestException) -> str:
    """Describe briefly why there was no answer."""
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not trusted; write http:// if that is intended"
    if isinstance(error, requests.Timeout):
        return "it took too long"
    return next((cause for part, cause in CAUSES.items() if part in str(error)), type(error).__name__)
