"""Download a file, completely or not at all."""

from pathlib import Path

import requests

from bundle_tools.codabench.server.interface.http import Connection, ServerError, is_good, try_again
from bundle_tools.whole import replaced

PIECE = 1 << 20
MOST_BYTES = 4 << 30
"""Largest file: more than any submission or output."""


def download(connection: Connection, url: str, target: Path) -> None:
    """Download a signed address into a file, with retries if the connection breaks.

    Raises ServerError if the download fails; then no file is left.
    """
    with replaced(target) as unfinished:
        try_again(lambda: _receive(connection, url, unfinished, target.name))


def _receive(connection: Connection, url: str, target: Path, name: str) -> None:
    try:
        with connection.open(url) as answer:
            if not is_good(answer):
                raise ServerError(f"{name}: status {answer.status_code} ({answer.reason})", answer.status_code)
            with target.open("wb") as file:
                for piece in answer.iter_content(PIECE):
                    file.write(piece)
                    if file.tell() > MOST_BYTES:
                        raise ServerError(f"{name}: more than {MOST_BYTES >> 30} GB.", answer.status_code)
    except requests.RequestException as error:
        raise ServerError(f"{name}: {error}") from None
