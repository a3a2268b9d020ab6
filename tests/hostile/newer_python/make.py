from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("type Number = int | float\nclass Model: pass\n")
