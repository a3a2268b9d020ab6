"""The seal's key, held by a process of its own: whoever reads ingestion's memory does not find it there."""

import hmac
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from ingest.confine import harden_process
from ingest.errors import IngestionError, Problem
from model_process.protocol import receive, send

KEY_FILE = "seal.key"
KEY = re.compile(r"[0-9a-f]{64}")
Sign = Callable[[bytes], bytes]
"""Returns the HMAC-SHA256 of a message, 32 bytes."""


class KeyKeeper:
    """A process that takes the key out of the program's folder and signs with it; it ends with this process."""

    def __init__(self, program: Path) -> None:
        """Start it. Call this early: packages that are imported later would only take memory there."""
        self._channel, theirs = socket.socketpair()
        if os.fork() == 0:
            self._channel.close()
            _keep(theirs, program)
        theirs.close()
        report = receive(self._channel).body
        self.keyed: bool = report["keyed"]
        """Whether the bundle has a key; without one, an empty key signs."""
        self.problems = [_problem(*words) for words in report["problems"]]
        """Why the key cannot be used, or could not be removed."""

    def sign(self, message: bytes) -> bytes:
        """Return the HMAC-SHA256 of a message under the key, 32 bytes."""
        send(self._channel, {}, blob=message)
        return receive(self._channel).blob


def _keep(channel: socket.socket, program: Path) -> NoReturn:
    key, problems = None, list[tuple[str, str]]()
    try:
        harden_process()
        try:
            key = read_key(program)
            remove_key(program)
        except IngestionError as error:
            problems = [(problem.found, problem.expected) for problem in error.problems]
        send(channel, {"keyed": key is not None, "problems": problems})
        while True:
            send(channel, {}, blob=hmac.digest(key or b"", receive(channel).blob, "sha256"))
    finally:  # ingestion has ended, or nobody could tell what went wrong here
        os._exit(0)


def read_key(program: Path) -> bytes | None:
    """Read the key from the program's folder.

    Returns 32 bytes; None if the bundle has no key. Raises IngestionError when the key is damaged.
    """
    path = program / KEY_FILE
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IngestionError([_problem(f"an unreadable file ({error.strerror})", "a readable file")]) from None
    if not KEY.fullmatch(text):
        raise IngestionError([_problem("different content", "64 hexadecimal digits")])
    return bytes.fromhex(text)


def remove_key(program: Path) -> None:
    """Remove the key before any of a participant's code runs.

    Raises IngestionError when it cannot be removed, so that the model could read it.
    """
    try:
        (program / KEY_FILE).unlink(missing_ok=True)
    except OSError as error:
        found = f"a file that cannot be removed ({error.strerror})"
        raise IngestionError([_problem(found, "a folder that ingestion may write to")]) from None


def _problem(found: str, expected: str) -> Problem:
    fix = "build the bundle again with `bundle build` and upload both programs"
    return Problem("seal_key_broken", "settings", KEY_FILE, found, expected, fix)
