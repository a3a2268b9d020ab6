"""Bring a file here, whole or not at all."""

import time
from pathlib import Path

import requests

from bundle_tools.server.interface.http import Connection, ServerError, is_good

TRIES = 3
PAUSE_S = 2.0
PIECE = 1 << 20
MOST_BYTES = 4 << 30
"""Of one file: more than anybody's submission or output."""


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
                if not is_good(answer):
                    raise ServerError(
                        f"{target.name}: status {answer.status_code} ({answer.reason})", answer.status_code
                    )
                with unfinished.open("wb") as file:
                    for piece in answer.iter_content(PIECE):
                        file.write(piece)
                        if file.tell() > MOST_BYTES:
                            raise ServerError(f"{target.name}: more than {MOST_BYTES >> 30} GB.", answer.status_code)
        except (requests.RequestException, ServerError) as error:
            unfinished.unlink(missing_ok=True)
            final = isinstance(error, ServerError) and error.status is not None and error.status < 500
            if final or left == 0:
                raise error if isinstance(error, ServerError) else ServerError(f"{target.name}: {error}") from None
            time.sleep(PAUSE_S)
        else:
            unfinished.replace(target)
            return
