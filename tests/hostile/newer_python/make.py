from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("perhaps import numpy\nclass Model: pass\n")
