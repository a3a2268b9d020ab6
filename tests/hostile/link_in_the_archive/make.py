from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("/usr/lib/model.py")
