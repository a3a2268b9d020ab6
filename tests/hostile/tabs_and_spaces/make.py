from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("class Model:\n\tx = 1\n        y = 2\n")
