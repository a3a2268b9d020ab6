"""Folders that are made once for what they depend on."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def digest(*paths: Path) -> str:
    """Return 12 hexadecimal digits of the names and contents of files and folders, compiled files left out."""
    found = hashlib.sha256()
    for root in paths:
        files = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
        for path in files:
            if "__pycache__" not in path.parts:
                name = path.relative_to(root).as_posix()
                found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:12]


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return `folder`, made by `make` if it is not there; whoever interrupts that leaves nothing behind."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as beside:
            made = Path(beside) / "made"
            made.mkdir()
            make(made)
            shutil.rmtree(folder, ignore_errors=True)  # somebody else may have been faster
            made.rename(folder)
    return folder
