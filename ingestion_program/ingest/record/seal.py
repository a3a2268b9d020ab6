"""The seal: only a program with the bundle's key can write a manifest with a valid seal.

The builder puts the same key into both programs. A bundle zipped by hand has no key, so its results are unsealed.
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


def seal(manifest: dict[str, Any], key: bytes) -> str:
    """Return the HMAC-SHA256 of a manifest without its seal, 64 hexadecimal digits; see docs/output_format.md."""
    message = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(key, message.encode("ascii"), hashlib.sha256).hexdigest()


def is_sealed(manifest: dict[str, Any], key: bytes) -> bool:
    """Whether a manifest holds its seal under this key."""
    rest = {name: value for name, value in manifest.items() if name != "seal"}
    found = str(manifest.get("seal")).encode("utf-8", "replace")
    return hmac.compare_digest(found, seal(rest, key).encode())


def _problem(found: str, expected: str) -> Problem:
    fix = "build the bundle again with `bundle build` and upload both programs"
    return Problem("seal_key_broken", "settings", KEY_FILE, found, expected, fix, fault="organiser")
