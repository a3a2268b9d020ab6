"""The seal of a manifest: proof that this bundle's ingestion program wrote it; see docs/output_format.md."""

import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any

from score.errors import OrganiserError, wrong

KEY_FILE = "seal.key"
_KEY = re.compile(r"[0-9a-f]{64}")


def read_key(program: Path) -> bytes | None:
    """Read the key from the program's folder: 32 bytes, or None if the bundle has none.

    Raises OrganiserError if the file holds no valid key.
    """
    path = program / KEY_FILE
    if not path.exists():
        return None
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not _KEY.fullmatch(text):
        problem = wrong("seal_key_broken", KEY_FILE, "different content", "64 hexadecimal digits")
        raise OrganiserError("The bundle's key is damaged.", [problem])
    return bytes.fromhex(text)


def is_sealed(manifest: dict[str, Any], key: bytes) -> bool:
    """Whether the manifest's seal is the HMAC-SHA256 of its other content under this key."""
    rest = {name: value for name, value in manifest.items() if name != "seal"}
    message = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    expected = hmac.new(key, message.encode("ascii"), hashlib.sha256).hexdigest()
    found = manifest.get("seal")
    return isinstance(found, str) and hmac.compare_digest(found.encode("utf-8", "replace"), expected.encode())
