from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_bytes(b"x = 1\n\x00\n")
