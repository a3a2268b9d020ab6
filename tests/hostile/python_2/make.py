from pathlib import Path


def make(folder: Path) -> None:
    (folder / "model.py").write_text("print 'hello'\nclass Model: pass\n")
