"""The seal key of a bundle: generated once, kept in private/, and packed only into both programs."""

import re
import secrets
from pathlib import Path

from bundle_tools.errors import BundleError

PROGRAMS = ("ingestion_program", "scoring_program")
NAME = "seal.key"
BYTES = 32
KEY = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}\n")


def key_entries(root: Path, *, fresh: bool) -> list[tuple[str, bytes]]:
    """Return the key file of both programs.

    It is the same in each build, so that a program can be replaced in a running competition.

    Raises BundleError when the stored file contains no key.
    """
    if not all((root / program).is_dir() for program in PROGRAMS):
        return []
    path = root / "private" / NAME
    if fresh or not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(BYTES) + "\n", encoding="ascii")
    text = path.read_text(encoding="ascii", errors="replace")
    if not KEY.fullmatch(text):
        raise BundleError(f"{path}: expected {2 * BYTES} hexadecimal digits, found something else. Use --new-key.")
    return [(f"{program}/{NAME}", text.encode("ascii")) for program in PROGRAMS]
