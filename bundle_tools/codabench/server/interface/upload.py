"""Upload a file: announce it, send it to the given address, report it, and check that it arrived."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.http import Connection, ServerError, try_again
from bundle_tools.console import Progress

PIECE = 1 << 20
LONGEST_NAME = 255
LONGEST_FILE_NAME = 35
"""Codabench cuts longer names, without the suffix, to this length."""


@dataclass(frozen=True)
class Digest:
    """Size and hash of a file."""

    sha256: str
    md5: str
    """Storage servers return this."""
    size: int
    """Bytes."""


def digest(path: Path) -> Digest:
    """Read a file once."""
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            sha256.update(piece)
            md5.update(piece)
    return Digest(sha256.hexdigest(), md5.hexdigest(), path.stat().st_size)


def upload(
    connection: Connection,
    path: Path,
    kind: str,
    *,
    name: str,
    file_name: str,
    competition_id: int | None = None,
    progress: Progress | None = None,
) -> str:
    """Upload a zip without reporting it as complete; return the data set's key.

    `kind`: such as "competition_bundle", "submission" or "input_data".
    `name`: unique among this account's data sets.
    `file_name`: the name of the file when downloaded.
    Raises ServerError if the server refuses it, or if the received bytes differ.
    """
    content = digest(path)
    announced = {
        "type": kind,
        "name": name[:LONGEST_NAME],
        "request_sassy_file_name": file_name,
        "file_name": file_name,
        "file_size": content.size,
    }
    if competition_id is not None:
        announced["competition"] = competition_id
    answer = connection.post("/api/datasets/", announced)
    _put(connection, str(answer["sassy_url"]), path, content, progress)
    return str(answer["key"])


def complete(connection: Connection, key: str, size: int) -> None:
    """Report an uploaded file other than a bundle as complete, and check that it arrived.

    Raises ServerError if the server has lost it.
    """
    connection.put(f"/api/datasets/completed/{key}/")
    found = calls.datasets(connection, key=key)
    if [one.size for one in found] != [size]:
        there = f"{found[0].size} bytes" if found else "no such file"
        raise ServerError(f"the upload {key}: sent {size} bytes, and the server has {there}. Repeat the command.")


def file_name_for(stem: str, suffix: str = ".zip") -> str:
    """Return a file name that the server keeps unchanged."""
    return re.sub(r"[^\w.-]+", "-", stem)[:LONGEST_FILE_NAME].strip("-.") + suffix


def _put(connection: Connection, url: str, path: Path, content: Digest, progress: Progress | None) -> None:
    # The content type is part of the signature; Azure wants to know what kind of blob it is.
    headers = {"Content-Type": "application/zip", "Content-Length": str(content.size)}
    if ".blob.core.windows.net" in url:
        headers["x-ms-blob-type"] = "BlockBlob"

    def send() -> str:
        with path.open("rb") as file:
            return connection.send_file(url, _Watched(file, content.size, progress), headers)

    tag = try_again(send)
    if tag and tag != content.md5:
        raise ServerError(
            f"{path.name} was changed during the upload: the storage has other bytes. Repeat the command."
        )


class _Watched:
    """A file that reports progress while it is sent. `requests` asks for its length and reads it."""

    def __init__(self, file: BinaryIO, size: int, progress: Progress | None) -> None:
        self._file = file
        self._size = size
        self._progress = progress

    def __len__(self) -> int:
        return self._size

    def read(self, count: int = -1) -> bytes:
        """Read on."""
        piece = self._file.read(count)
        if self._progress is not None:
            self._progress(self._file.tell(), self._size)
        return piece
