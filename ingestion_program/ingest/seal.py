"""The seal: only a program that holds the bundle's key can have written a manifest with the right one.

The builder puts one fresh key into both programs. A bundle zipped by hand has none; its results are then unsealed.
"""

import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any

from ingest.errors import IngestionError, Problem

KEY_FILE = "seal.key"
KEY = re.compile(r"[0-9a-f]{64}")


def take_key(program: Path) -> bytes | None:
    """Read the key from the program's folder and remove it there, before a line of a participant's code can look.

    Returns
    -------
    bytes or None
        32 bytes; None where the bundle has no key.

    Raises
    ------
    IngestionError
        When the key is damaged, or cannot be removed and so not be kept from the model.
    """
    path = program / KEY_FILE
    if not path.exists():
        return None
    text = path.read_text(encoding="ascii", errors="replace").strip()
    try:
        path.unlink()
    except OSError as error:
        found = f"a file that cannot be removed ({error.strerror})"
        raise IngestionError([_problem(found, "a folder that ingestion may write to")]) from None
    if not KEY.fullmatch(text):
        raise IngestionError([_problem("another content", "64 hexadecimal digits")])
    return bytes.fromhex(text)


def seal(manifest: dict[str, Any], key: bytes) -> str:
    """Return the HMAC-SHA256 of a manifest without its seal, 64 hexadecimal digits; see docs/output_format.md."""
    message = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(key, message.encode("ascii"), hashlib.sha256).hexdigest()


def _problem(found: str, expected: str) -> Problem:
    fix = "build the bundle again with `bundle build` and upload both programs"
    return Problem("seal_key_broken", "settings", KEY_FILE, found, expected, fix, fault="organiser")
