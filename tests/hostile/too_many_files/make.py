from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("class Model: pass")
    (folder / "data").mkdir()
    for number in range(120):
        (folder / "data" / f"{number}.txt").touch()
