from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("class Model:\n    def __init__(self, assets)\n        pass\n")
