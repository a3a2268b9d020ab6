"""Passwords and keys left in a program by mistake."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.codabench.rules.dataset import opened
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.codabench.rules.programs.commands import PROGRAMS

NAMES = frozenset({".env", ".netrc", ".pypirc", ".git-credentials", "id_rsa", "id_ed25519", "id_ecdsa"})
KEY = re.compile(rb"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----\r?\n")
LARGEST_KEY = 100_000
MOST_TOLD = 5


def check_private(draft: Draft) -> Iterator[Finding]:
    """Find files in programs that look like passwords or private keys."""
    shows = draft.keys.make_programs_available
    reader = "Every participant can download it." if shows else "Every organiser and every worker can read it."
    for value, program in opened(draft, *PROGRAMS).items():
        found = [
            name
            for name in program.names()
            if PurePosixPath(name).name in NAMES
            or (program.size(name) <= LARGEST_KEY and KEY.search(program.read(name)))
        ]
        for name in found[:MOST_TOLD]:
            what = f"{value.rstrip('/')}/{name}: looks like passwords or a private key."
            yield Finding("program-private", "warning", value, what, reader, "Remove it from the folder.")
