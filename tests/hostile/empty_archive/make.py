from pathlib import Path


def make(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
