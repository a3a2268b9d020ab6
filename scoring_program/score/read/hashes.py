"""Hashes of the reference data, on which a score depends besides the run."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

_SETTINGS = "task.yaml"


@dataclass(frozen=True)
class Hashes:
    """SHA-256 in hexadecimal; empty if unknown or not to be shown."""

    settings: str = ""
    labels: str = ""
    """Hash of labels and all other files beside the settings, by name. It could confirm a guess at the labels."""


NO_HASHES = Hashes()


def read_hashes(folder: Path) -> Hashes:
    """Hash the files of ``reference_data/<phase>/``, names included and subfolders left out."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name != _SETTINGS):
        whole.update(f"{_of_file(path)}  {path.name}\n".encode())
    return Hashes(_of_file(folder / _SETTINGS), whole.hexdigest())


def _of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
