from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_bytes("x = 'Grüße'\n".encode("latin-1"))
