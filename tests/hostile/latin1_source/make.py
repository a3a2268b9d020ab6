from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_bytes("# Grüße\nx = 1\n".encode("latin-1"))
