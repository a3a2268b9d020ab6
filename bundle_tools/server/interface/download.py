"""Bring a file here, whole or not at all."""

import time
from pathlib import Path

import requests

from bundle_tools.server.interface.http import Connection, ServerError

TRIES = 3
PAUSE_S = 2.0
PIECE = 1 << 20


def download(connection: Connection, url: str, target: Path) -> None:
    """Read a signed address into a file, and again where the connection breaks.

    Raises
    ------
    ServerError
        If it cannot be had; then there is no file.
    """
    unfinished = target.with_name(target.name + ".part")
    for left in reversed(range(TRIES)):
        try:
            with connection.open(url) as answer:
                if not answer.ok:
                    raise ServerError(
                        f"{target.name}: status {answer.status_code} ({answer.reason})", answer.status_code
                    )
                with unfinished.open("wb") as file:
                    for piece in answer.iter_content(PIECE):
                        file.write(piece)
        except (requests.RequestException, ServerError) as error:
            unfinished.unlink(missing_ok=True)
            final = isinstance(error, ServerError) and error.status is not None and error.status < 500
            if final or left == 0:
                raise error if isinstance(error, ServerError) else ServerError(f"{target.name}: {error}") from None
            time.sleep(PAUSE_S)
        else:
            unfinished.replace(target)
            return
